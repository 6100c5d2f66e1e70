import type { ReactElement } from 'react';
import { t } from '../messages';
import { Notice } from '../ui/Notice';
import { RetryButton } from '../ui/RetryButton';

interface Props {
  /** The server has not responded yet. */
  unreachable: boolean;
  busy: boolean;
  onRetry: () => void;
}

/** Shown before anything is known about the room. */
export function Opening({ unreachable, busy, onRetry }: Props): ReactElement {
  if (!unreachable) {
    return (
      <main className="notice">
        <p className="quiet delayed" role="status">
          {t('opening')}
        </p>
      </main>
    );
  }
  return (
    <Notice title={t('unreachable.title')} actions={<RetryButton busy={busy} label={t('unreachable.now')} onPress={onRetry} />}>
      <p>{t('unreachable.text')}</p>
    </Notice>
  );
}
