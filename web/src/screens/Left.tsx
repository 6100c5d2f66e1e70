import type { ReactElement } from 'react';
import { t } from '../messages';
import { formatDuration } from '../time/duration';
import { Notice } from '../ui/Notice';
import type { Visit } from '../visit/state';
import { Feedback, type SendRating } from './Feedback';
import { JoinErrorText } from './JoinErrorText';
import { RedirectNotice } from './RedirectNotice';

interface Props {
  left: Extract<Visit, { at: 'left' }>;
  /** Null when the visitor has rated the meeting before. */
  onRate: SendRating | null;
  onBack: () => void;
}

const texts = {
  left: { title: 'left.title', text: 'left.next', back: 'left.back' },
  elsewhere: { title: 'joinedElsewhere.title', text: 'joinedElsewhere.text', back: 'joinedElsewhere.continue' },
  limited: { title: 'limited.title', text: 'limited.text', back: 'limited.back' },
} as const;

/** The visitor is no longer in the room and can rejoin. */
export function Left({ left, onRate, onBack }: Props): ReactElement {
  const { reason } = left;
  const leftByChoice = reason === 'left';
  const redirectUrl = left.seat.logout_url;
  const rejoining = left.joinAttempt !== null;
  return (
    <Notice
      room={left.seat.title}
      title={t(texts[reason].title)}
      actions={
        <button type="button" className="primary" aria-disabled={rejoining} onClick={rejoining ? undefined : onBack}>
          {t(rejoining ? 'left.coming' : texts[reason].back)}
        </button>
      }
    >
      {leftByChoice ? <p>{t('span.that', { span: formatDuration(left.durationMs) })}</p> : <p>{t(texts[reason].text)}</p>}
      {leftByChoice && !left.error && !redirectUrl && <p className="quiet">{t(texts.left.text)}</p>}
      {leftByChoice && redirectUrl && <RedirectNotice url={redirectUrl} paused={rejoining || left.error !== null} />}
      <JoinErrorText error={left.error} />
      {leftByChoice && <Feedback onRate={onRate} />}
    </Notice>
  );
}
