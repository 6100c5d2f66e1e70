import type { ReactElement } from 'react';
import { formatNumber, t } from '../../messages';
import { formatAgo } from '../../time/ago';
import { useServerTime } from '../../time/useServerTime';
import { Icon } from '../../ui/Icon';
import { ActionError } from '../actions/ActionError';
import { useAction } from '../actions/useAction';
import { useMeetingPeople, useMembership } from '../meeting';

/** The people whose hand is raised, for hosts also those in the other rooms. */
export function RaisedHands(): ReactElement | null {
  const { actions, clock, isModerator } = useMembership();
  const { hands, handsElsewhere, raisedAt } = useMeetingPeople();
  const some = hands.length + handsElsewhere.length > 0;
  const now = useServerTime(clock, some);
  const { error, run } = useAction();
  if (!some) return null;
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
        {handsElsewhere.map(({ identity, name, roomName, roomNumber }) => (
          <li key={identity} className="hand-row">
            <span className="hand-number" aria-hidden="true">
              <Icon name="hand" />
            </span>
            <span className="roster-name">
              <bdi>{name}</bdi>{' '}
              <span className="badge">
                <bdi>{roomName}</bdi>
              </span>
              <RaisedFor since={raisedAt.get(identity) ?? null} now={now} />
            </span>
            <button type="button" className="secondary" onClick={() => void run(() => actions.moveSelf(roomNumber))}>
              {t(roomNumber === 0 ? 'rooms.back' : 'rooms.go')}
              <span className="sr-only"> ({roomName})</span>
            </button>
            <button
              type="button"
              className="secondary"
              aria-label={t('hand.lowerOf', { name })}
              onClick={() => void run(() => actions.lowerHand(identity))}
            >
              {t('hand.down')}
            </button>
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
