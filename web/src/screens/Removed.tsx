import type { ReactElement } from 'react';
import { t } from '../messages';
import { formatDuration } from '../time/duration';
import { Notice } from '../ui/Notice';
import { RetryButton } from '../ui/RetryButton';
import type { Visit } from '../visit/state';

interface Props {
  removed: Extract<Visit, { at: 'removed' }>;
  busy: boolean;
  onRetry: () => void;
}

/** A host has removed the visitor and may readmit them. */
export function Removed({ removed: { title, durationMs, polls }, busy, onRetry }: Props): ReactElement {
  return (
    <Notice room={title} title={t('removed.title')} actions={<RetryButton busy={busy} label={t('refused.again')} onPress={onRetry} />}>
      <p>{t('span.that', { span: formatDuration(durationMs) })}</p>
      <p>{t('removed.text')}</p>
      <p role="status">{t(polls > 0 ? 'removed.still' : 'removed.again')}</p>
    </Notice>
  );
}
