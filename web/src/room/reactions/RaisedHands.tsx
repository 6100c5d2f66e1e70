import type { ReactElement } from 'react';
import { formatNumber, t } from '../../messages';
import { ActionError } from '../actions/ActionError';
import { useAction } from '../actions/useAction';
import { useMeeting } from '../meeting';

/** The people whose hand is raised. */
export function RaisedHands(): ReactElement | null {
  const { actions, hands, isModerator } = useMeeting();
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
