import type { ReactElement } from 'react';
import { t } from '../../messages';
import { useStore } from '../../state/useStore';
import { Sheet } from '../../ui/Sheet';
import { Switch } from '../../ui/Switch';
import { useMeetingMedia } from '../meeting';
import type { Shortcut } from './shortcuts';
import { shortcutsEnabled } from './shortcutsEnabled';

interface Props {
  shortcuts: readonly Shortcut[];
  onClose: () => void;
}

/** The list of keyboard shortcuts and the switch to turn them off. */
export function ShortcutsSheet({ shortcuts, onClose }: Props): ReactElement {
  const { allowed } = useMeetingMedia();
  const on = useStore(shortcutsEnabled);
  return (
    <Sheet title={t('keys.title')} onClose={onClose}>
      <Switch label={t('keys.on')} on={on} onChange={(use) => shortcutsEnabled.save(use)} />
      <p className="quiet">{t('keys.text')}</p>
      <dl className="keys">
        {allowed.mic && (
          <div className="roster-row">
            <dt>
              <kbd>{t('keys.space')}</kbd>
            </dt>
            <dd>{t('keys.talk')}</dd>
          </div>
        )}
        {shortcuts.map(({ key, labelKey }) => (
          <div key={key} className="roster-row">
            <dt>
              <kbd>{key.toUpperCase()}</kbd>
            </dt>
            <dd>{t(labelKey)}</dd>
          </div>
        ))}
      </dl>
    </Sheet>
  );
}
