import type { ReactElement } from 'react';
import { formatNumber, t } from '../../messages';
import type { RoomActions } from '../../visit/roomActions';
import { ActionError } from '../actions/ActionError';
import type { Person } from '../people/person';
import { useAction } from '../actions/useAction';

interface Props {
  actions: RoomActions;
  /** In the server's order. */
  hands: readonly Person[];
  /** May lower the hands of others. */
  isModerator: boolean;
}

/** The people whose hand is raised. */
export function RaisedHands({ actions, hands, isModerator }: Props): ReactElement | null {
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
            <span className="roll-name">
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
