import type { ReactElement } from 'react';
import { formatNumber, t } from '../../messages';
import { formatAgo } from '../../time/ago';
import { useServerTime } from '../../time/useServerTime';
import { ActionError } from '../actions/ActionError';
import { useAction } from '../actions/useAction';
import { useMeeting } from '../meeting';

/** The people whose hand is raised. */
export function RaisedHands(): ReactElement | null {
  const { actions, hands, raisedAt, clock, isModerator } = useMeeting();
  const now = useServerTime(clock, hands.length > 0);
  const { error, run } = useAction();
  if (hands.length === 0) return null;
  return (
    <section className="sheet-part">
      <div className="assign-head">
        <h3 id="hands">{t('hand.title')}</h3>
        {isModerator && hands.length > 1 && (
          <button type="button" className="secondary" onClick={() => void run(() => actions.lowerHands())}>
            {t('hand.lowerAll')}
          </button>
        )}
      </div>
      <ol className="hand-list" aria-labelledby="hands">
        {hands.map(({ identity, name, you }, i) => (
          <li key={identity} className="hand-row">
            <span className="hand-number" aria-hidden="true">
              {formatNumber(i + 1)}
            </span>
            <span className="roster-name">
              <bdi>{name}</bdi> {you && <span className="badge">{t('room.you')}</span>}
              <RaisedFor since={raisedAt.get(identity) ?? null} now={now} />
            </span>
            {(isModerator || you) && (
              <button
                type="button"
                className="secondary"
                aria-label={t('hand.lowerOf', { name })}
                onClick={() => void run(() => actions.lowerHand(you ? undefined : identity))}
              >
                {t('hand.down')}
              </button>
            )}
          </li>
        ))}
      </ol>
      <ActionError text={error} />
    </section>
  );
}

function RaisedFor({ since, now }: { since: number | null; now: number }): ReactElement | null {
  return since === null ? null : <span className="hand-time small quiet">{formatAgo(now - since)}</span>;
}
