import { type ReactElement, useId, useRef, useState } from 'react';
import type { Body, Result } from '../api/client';
import { t } from '../messages';
import { IconShape } from '../ui/Icon';

export type Rating = Body<'feedback'>['rating'];

/** Sends the rating of this visit. */
export type SendRating = (rating: Rating) => Promise<Result<null>>;

const face = 'M12 21a9 9 0 1 0 0-18 9 9 0 0 0 0 18ZM9 9.5h.01M15 9.5h.01';
const ratings = [
  { rating: 'good', label: 'feedback.good', icon: `${face}M8 14.5a5 5 0 0 0 8 0` },
  { rating: 'bad', label: 'feedback.bad', icon: `${face}M8 16.5a5 5 0 0 1 8 0` },
] as const;

/** Asks once how the meeting was. */
export function Feedback({ onRate }: { onRate: SendRating | null }): ReactElement | null {
  const [state, setState] = useState<'asking' | 'sending' | 'sent' | 'failed'>('asking');
  // Kept for this page, because the rating itself sets it to null.
  const [send] = useState(() => onRate);
  const heading = useRef<HTMLHeadingElement>(null);
  const buttons = useRef<HTMLDivElement>(null);
  const id = useId();
  if (!send) return null;
  const rate = async (rating: Rating): Promise<void> => {
    if (state === 'sending') return;
    setState('sending');
    const result = await send(rating);
    if (result.is === 'unreachable') {
      setState('failed');
      return;
    }
    // The pressed button is gone then. Where the visitor has moved the focus meanwhile, it stays.
    const focused = document.activeElement;
    if (focused === document.body || buttons.current?.contains(focused)) heading.current?.focus();
    setState('sent');
  };
  return (
    <section className="feedback" aria-labelledby={id}>
      <h2 ref={heading} id={id} tabIndex={-1}>
        {t('feedback.title')}
      </h2>
      {state !== 'sent' && (
        <div ref={buttons} className="feedback-ratings">
          {ratings.map(({ rating, label, icon }) => (
            <button key={rating} type="button" className="secondary" aria-disabled={state === 'sending'} onClick={() => void rate(rating)}>
              <IconShape path={icon} />
              {t(label)}
            </button>
          ))}
        </div>
      )}
      <p role="status" className={state === 'failed' ? 'wrong' : 'quiet'}>
        {state === 'sent' && t('feedback.thanks')}
        {state === 'failed' && t('feedback.failed')}
      </p>
    </section>
  );
}
