import { type FormEvent, type ReactElement, useId, useState } from 'react';
import { count, t } from '../../messages';
import { ActionError } from '../actions/ActionError';
import { useAction } from '../actions/useAction';
import { useMembership } from '../meeting';
import { BreakoutSelect } from './BreakoutSelect';
import { assignEvenly, type PersonLocation } from './personLocations';

const defaultName = (i: number): string => t('rooms.usual', { n: i + 1 });

/** The form with the number of rooms, their names and the assignment of these people. */
export function OpenBreakouts({ people }: { people: readonly PersonLocation[] }): ReactElement {
  const { actions, seat } = useMembership();
  const maxRooms = seat.max_breakouts;
  const [number, setNumber] = useState(Math.min(2, maxRooms));
  const [editedNames, setEditedNames] = useState<readonly string[]>([]);
  // The index of the room by identity. People without an entry stay in the main room.
  const [assigned, setAssigned] = useState<ReadonlyMap<string, number>>(new Map());
  const { busy, error, run } = useAction();
  const id = useId();

  const names = Array.from({ length: number }, (_, i) => editedNames[i] ?? defaultName(i));
  const finalNames = names.map((name, i) => name.trim() || defaultName(i));
  const rooms = [{ number: 0, name: t('rooms.main') }, ...finalNames.map((name, i) => ({ number: i + 1, name }))];
  const roomOf = ({ identity }: PersonLocation): number => {
    const room = assigned.get(identity);
    return room === undefined || room >= number ? 0 : room + 1;
  };

  function choose(person: PersonLocation, room: number): void {
    const next = new Map(assigned);
    if (room === 0) next.delete(person.identity);
    else next.set(person.identity, room - 1);
    setAssigned(next);
  }

  async function open(event: FormEvent): Promise<void> {
    event.preventDefault();
    const moving = people.filter((person) => roomOf(person) > 0);
    const assign = Object.fromEntries(moving.map((person) => [person.identity, roomOf(person) - 1]));
    await run(() => actions.openBreakouts(finalNames, assign));
  }

  return (
    <form className="sheet-parts" onSubmit={(event) => void open(event)}>
      <p className="quiet">{t('rooms.about')}</p>
      <div className="field">
        <label htmlFor={id}>{t('rooms.number')}</label>
        <select id={id} value={number} onChange={(event) => setNumber(Number(event.target.value))}>
          {Array.from({ length: maxRooms }, (_, i) => (
            <option key={i} value={i + 1}>
              {count('rooms.count', i + 1)}
            </option>
          ))}
        </select>
      </div>
      <div className="sheet-part">
        {names.map((name, i) => (
          <input
            key={i}
            aria-label={t('rooms.nameOf', { n: i + 1 })}
            value={name}
            maxLength={60}
            onChange={(event) => setEditedNames(names.map((other, j) => (j === i ? event.target.value : other)))}
          />
        ))}
      </div>
      {people.length > 0 && (
        <section className="sheet-part">
          <div className="assign-head">
            <h3>{t('rooms.who')}</h3>
            <button
              type="button"
              className="secondary"
              onClick={() =>
                setAssigned(
                  assignEvenly(
                    people.filter(({ role }) => role === 'guest'),
                    number,
                  ),
                )
              }
            >
              {t('rooms.evenly')}
            </button>
          </div>
          <ul>
            {people.map((person) => (
              <BreakoutSelect
                key={person.identity}
                person={person.name}
                rooms={rooms}
                value={roomOf(person)}
                onChoose={(room) => choose(person, room)}
              />
            ))}
          </ul>
        </section>
      )}
      <div className="sheet-part sheet-foot">
        <ActionError text={error} />
        <button type="submit" className="primary wide" aria-disabled={busy}>
          {busy ? t('rooms.opening') : count('rooms.open', number)}
        </button>
      </div>
    </form>
  );
}
