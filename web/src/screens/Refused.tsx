import type { ReactElement } from 'react';
import { t } from '../messages';
import { formatDuration } from '../time/duration';
import { Notice } from '../ui/Notice';
import { RetryButton } from '../ui/RetryButton';
import type { Visit } from '../visit/state';
import { hasFixedDelay } from '../visit/task';
import { Countdown } from './Countdown';
import { errorText } from './errorText';
import { Feedback, type SendRating } from './Feedback';
import { RedirectNotice } from './RedirectNotice';

interface Props {
  refused: Extract<Visit, { at: 'refused' }>;
  busy: boolean;
  /** Null when the visitor has rated the meeting before. */
  onRate: SendRating | null;
  onRetry: () => void;
}

/** Explains an error and the next step. */
export function Refused({ refused, busy, onRate, onRetry }: Props): ReactElement {
  const { error, durationMs } = refused;
  const { title, text, nextStep } = errorText(error, durationMs !== null, refused.endedByVisitor);
  return (
    <Notice
      room={refused.title}
      title={title}
      actions={
        nextStep === 'again' ? (
          <RetryButton busy={busy} label={t('refused.again')} onPress={onRetry} />
        ) : (
          nextStep === 'reload' && (
            <button type="button" className="primary" onClick={() => location.reload()}>
              {t('refused.reload')}
            </button>
          )
        )
      }
    >
      {durationMs !== null && <p>{t('span.that', { span: formatDuration(durationMs) })}</p>}
      {text.map((sentence) => (
        <p key={sentence}>{sentence}</p>
      ))}
      {refused.redirectUrl && <RedirectNotice url={refused.redirectUrl} paused={false} />}
      {durationMs !== null && error.code === 'room_ended' && <Feedback onRate={onRate} />}
      {hasFixedDelay(error) && <Countdown key={refused.polls} ms={error.waitMs} />}
    </Notice>
  );
}
