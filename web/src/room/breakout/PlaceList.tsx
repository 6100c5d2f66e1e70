import type { ReactElement } from 'react';
import { t } from '../../messages';
import type { Acts } from '../../visit/acts';
import type { Place } from '../info';
import { ActTrouble } from '../ActTrouble';
import { useAct } from '../useAct';

interface Props {
  acts: Acts;
  places: readonly Place[];
  here: number;
  onGone: () => void;
}

/** The rooms there are, and the way into each. */
export function PlaceList({ acts, places, here, onGone }: Props): ReactElement {
  const { busy, trouble, run } = useAct();
  async function go(to: number): Promise<void> {
    if (await run(() => acts.go(to))) onGone();
  }
  return (
    <section className="sheet-part">
      <ul>
        {places.map(({ number, name }) => (
          <li key={number} className="roll-row">
            <span className="roll-name">
              <bdi>{name}</bdi>
            </span>
            {number === here ? (
              <span className="quiet small">{t('rooms.youAreHere')}</span>
            ) : (
              <button type="button" className="secondary" aria-disabled={busy} onClick={() => void go(number)}>
                {t(number === 0 ? 'rooms.back' : 'rooms.go')}
                <span className="sr-only"> ({name})</span>
              </button>
            )}
          </li>
        ))}
      </ul>
      <ActTrouble text={trouble} />
    </section>
  );
}
