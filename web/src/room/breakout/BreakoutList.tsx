import type { ReactElement } from 'react';
import { t } from '../../messages';
import { ActionError } from '../actions/ActionError';
import { useAction } from '../actions/useAction';
import type { BreakoutRoom } from '../connection/roomMetadata';
import { useMeetingPeople, useMembership } from '../meeting';

interface Props {
  rooms: readonly BreakoutRoom[];
  onMoved: () => void;
}

/** The list of rooms, each with a button to move there. */
export function BreakoutList({ rooms, onMoved }: Props): ReactElement {
  const { actions } = useMembership();
  const { metadata } = useMeetingPeople();
  const { busy, error, run } = useAction();
  async function go(to: number): Promise<void> {
    if (await run(() => actions.moveSelf(to))) onMoved();
  }
  return (
    <section className="sheet-part">
      <ul>
        {rooms.map(({ number, name }) => (
          <li key={number} className="roster-row">
            <span className="roster-name">
              <bdi>{name}</bdi>
            </span>
            {number === metadata.breakout ? (
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
      <ActionError text={error} />
    </section>
  );
}
