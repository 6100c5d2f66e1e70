import type { ReactElement } from 'react';
import { digits, t } from '../../messages';
import type { Acts } from '../../visit/acts';
import { ActTrouble } from '../ActTrouble';
import type { Person } from '../person';
import { useAct } from '../useAct';

interface Props {
  acts: Acts;
  /** In order. */
  hands: readonly Person[];
  /** May lower those of others. */
  runs: boolean;
}

/** Whose hand is up, first come first. */
export function HandsPart({ acts, hands, runs }: Props): ReactElement | null {
  const { trouble, run } = useAct();
  if (hands.length === 0) return null;
  return (
    <section className="sheet-part">
      <div className="assign-head">
        <h3 id="hands">{t('hand.title')}</h3>
        {runs && hands.length > 1 && (
          <button type="button" className="secondary" onClick={() => void run(() => acts.lowerHands())}>
            {t('hand.lowerAll')}
          </button>
        )}
      </div>
      <ol className="hand-list" aria-labelledby="hands">
        {hands.map(({ identity, name, you }, i) => (
          <li key={identity} className="hand-row">
            <span className="hand-number" aria-hidden="true">
              {digits(i + 1)}
            </span>
            <span className="roll-name">
              <bdi>{name}</bdi> {you && <span className="badge">{t('room.you')}</span>}
            </span>
            {(runs || you) && (
              <button
                type="button"
                className="secondary"
                aria-label={t('hand.lowerOf', { name })}
                onClick={() => void run(() => acts.lowerHand(you ? undefined : identity))}
              >
                {t('hand.down')}
              </button>
            )}
          </li>
        ))}
      </ol>
      <ActTrouble text={trouble} />
    </section>
  );
}
