import { useId, useState, type FormEvent, type ReactElement } from 'react';
import { count, t } from '../../messages';
import type { Acts } from '../../visit/acts';
import type { Person } from '../person';
import { ActTrouble } from '../ActTrouble';
import { PlaceSelect } from './PlaceSelect';
import { useAct } from '../useAct';
import { evenly, type Sent } from './whereabouts';

interface Props {
  acts: Acts;
  most: number;
  /** Who can be assigned. */
  people: readonly Person[];
  onSent: (sent: [identity: string, sent: Sent][]) => void;
}

const usualName = (i: number): string => t('rooms.usual', { n: i + 1 });

/** How many rooms, what they are called, and who goes where. */
export function OpenRooms({ acts, most, people, onSent }: Props): ReactElement {
  const [number, setNumber] = useState(Math.min(2, most));
  const [written, setWritten] = useState<readonly string[]>([]);
  // By identity the place in the list of rooms; who is not in it stays.
  const [assigned, setAssigned] = useState<ReadonlyMap<string, number>>(new Map());
  const { busy, trouble, run } = useAct();
  const id = useId();

  const names = Array.from({ length: number }, (_, i) => written[i] ?? usualName(i));
  const called = names.map((name, i) => name.trim() || usualName(i));
  const places = [{ number: 0, name: t('rooms.main') }, ...called.map((name, i) => ({ number: i + 1, name }))];
  const placeOf = ({ identity }: Person): number => {
    const room = assigned.get(identity);
    return room === undefined || room >= number ? 0 : room + 1;
  };

  function choose(person: Person, place: number): void {
    const next = new Map(assigned);
    if (place === 0) next.delete(person.identity);
    else next.set(person.identity, place - 1);
    setAssigned(next);
  }

  async function open(event: FormEvent): Promise<void> {
    event.preventDefault();
    const going = people.filter((person) => placeOf(person) > 0);
    const assign = Object.fromEntries(going.map((person) => [person.identity, placeOf(person) - 1]));
    const opened = await run(() => acts.openBreakouts(called, assign));
    if (!opened) return;
    const { breakouts } = opened.value;
    onSent(
      going.flatMap((person) => {
        const room = breakouts[placeOf(person) - 1];
        return room ? [[person.identity, { name: person.name, to: room.number }]] : [];
      }),
    );
  }

  return (
    <form className="sheet-parts" onSubmit={(event) => void open(event)}>
      <p className="quiet">{t('rooms.about')}</p>
      <div className="field">
        <label htmlFor={id}>{t('rooms.number')}</label>
        <select id={id} value={number} onChange={(event) => setNumber(Number(event.target.value))}>
          {Array.from({ length: most }, (_, i) => (
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
            onChange={(event) => setWritten(names.map((other, j) => (j === i ? event.target.value : other)))}
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
              onClick={() => setAssigned(evenly(people.filter(({ role }) => role === 'guest'), number))}
            >
              {t('rooms.evenly')}
            </button>
          </div>
          <ul>
            {people.map((person) => (
              <PlaceSelect
                key={person.identity}
                person={person.name}
                places={places}
                value={placeOf(person)}
                onChoose={(place) => choose(person, place)}
              />
            ))}
          </ul>
        </section>
      )}
      <ActTrouble text={trouble} />
      <button type="submit" className="primary wide" aria-disabled={busy}>
        {busy ? t('rooms.opening') : count('rooms.open', number)}
      </button>
    </form>
  );
}
