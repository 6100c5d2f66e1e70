import type { ReactElement } from 'react';
import { useStore } from '../../lib/useStore';
import { t } from '../../messages';
import { Sheet } from '../../ui/Sheet';
import { Switch } from '../../ui/Switch';
import { keysOn } from './choice';
import type { Shortcut } from './table';

interface Props {
  shortcuts: readonly Shortcut[];
  /** Whether the visitor may speak at all. */
  talks: boolean;
  onClose: () => void;
}

/** What the keys do, and the way to turn them off. */
export function KeysSheet({ shortcuts, talks, onClose }: Props): ReactElement {
  const on = useStore(keysOn);
  return (
    <Sheet title={t('keys.title')} onClose={onClose}>
      <Switch label={t('keys.on')} on={on} onChange={(use) => keysOn.choose(use)} />
      <p className="quiet">{t('keys.text')}</p>
      <dl className="keys">
        {talks && (
          <div className="roll-row">
            <dt>
              <kbd>{t('keys.space')}</kbd>
            </dt>
            <dd>{t('keys.talk')}</dd>
          </div>
        )}
        {shortcuts.map(({ key, does }) => (
          <div key={key} className="roll-row">
            <dt>
              <kbd>{key.toUpperCase()}</kbd>
            </dt>
            <dd>{t(does)}</dd>
          </div>
        ))}
      </dl>
    </Sheet>
  );
}
