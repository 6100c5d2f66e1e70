import type { ReactElement } from 'react';
import { t } from '../messages';
import { AgainButton } from '../ui/AgainButton';
import { Notice } from '../ui/Notice';

interface Props {
  /** The server has not answered so far. */
  away: boolean;
  busy: boolean;
  onAgain: () => void;
}

/** Before anything is known about the room. */
export function Opening({ away, busy, onAgain }: Props): ReactElement {
  if (!away) {
    return (
      <main className="notice">
        <p className="quiet patient" role="status">
          {t('opening')}
        </p>
      </main>
    );
  }
  return (
    <Notice
      title={t('unreachable.title')}
      actions={<AgainButton busy={busy} label={t('unreachable.now')} onPress={onAgain} />}
    >
      <p>{t('unreachable.text')}</p>
    </Notice>
  );
}
