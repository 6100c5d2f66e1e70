import { useId, useState, type FormEvent, type ReactElement } from 'react';
import { t } from '../../messages';
import type { Acts } from '../../visit/acts';
import type { Place } from '../info';
import { ActTrouble } from '../ActTrouble';
import { PlaceSelect } from './PlaceSelect';
import { useAct } from '../useAct';
import type { Whereabouts } from './whereabouts';

interface Props {
  acts: Acts;
  places: readonly Place[];
  /** How many may be open at once. */
  most: number;
  people: readonly Whereabouts[];
  onMoved: (identity: string, place: number) => void;
}

/** What hosts do while breakout rooms are open: move people, open another room, speak to all, close the rooms. */
export function RunRooms({ acts, places, most, people, onMoved }: Props): ReactElement {
  const moving = useAct();
  const closing = useAct();

  async function move({ identity }: Whereabouts, to: number): Promise<void> {
    if (await moving.run(() => acts.move(identity, to))) onMoved(identity, to);
  }

  return (
    <>
      {people.length > 0 && (
        <section className="sheet-part">
          <h3>{t('rooms.who')}</h3>
          <ul>
            {people.map((person) => (
              <PlaceSelect
                key={person.identity}
                person={person.name}
                places={places}
                value={person.place}
                onChoose={(to) => void move(person, to)}
              />
            ))}
          </ul>
          <ActTrouble text={moving.trouble} />
        </section>
      )}
      {places.length <= most && <AnotherRoom acts={acts} places={places} />}
      <Broadcast acts={acts} />
      <section className="sheet-part">
        <p className="quiet">{t('rooms.close.text')}</p>
        <ActTrouble text={closing.trouble} />
        <button
          type="button"
          className="secondary wide"
          aria-disabled={closing.busy}
          onClick={() => void closing.run(() => acts.closeBreakouts())}
        >
          {t(closing.busy ? 'rooms.closing' : 'rooms.close')}
        </button>
      </section>
    </>
  );
}

function AnotherRoom({ acts, places }: { acts: Acts; places: readonly Place[] }): ReactElement {
  const [written, setWritten] = useState<string | null>(null);
  const { busy, trouble, run } = useAct();
  const id = useId();
  const usual = t('rooms.usual', { n: Math.max(...places.map(({ number }) => number)) + 1 });

  async function open(event: FormEvent): Promise<void> {
    event.preventDefault();
    if (await run(() => acts.openBreakouts([written?.trim() || usual], {}))) setWritten(null);
  }

  return (
    <form className="sheet-part" onSubmit={(event) => void open(event)}>
      <div className="field">
        <label htmlFor={id}>{t('rooms.another')}</label>
        <div className="field-act">
          <input id={id} value={written ?? usual} maxLength={60} onChange={(event) => setWritten(event.target.value)} />
          <button type="submit" className="secondary" aria-disabled={busy}>
            {t(busy ? 'rooms.opening' : 'rooms.openIt')}
          </button>
        </div>
      </div>
      <ActTrouble text={trouble} />
    </form>
  );
}

function Broadcast({ acts }: { acts: Acts }): ReactElement {
  const [text, setText] = useState('');
  const [sent, setSent] = useState(false);
  const { busy, trouble, run } = useAct();
  const id = useId();

  async function send(event: FormEvent): Promise<void> {
    event.preventDefault();
    const said = text.trim();
    if (said === '' || !(await run(() => acts.broadcast(said)))) return;
    setText('');
    setSent(true);
  }

  return (
    <form className="sheet-part" onSubmit={(event) => void send(event)}>
      <div className="field">
        <label htmlFor={id}>{t('rooms.say')}</label>
        <textarea
          id={id}
          rows={2}
          maxLength={500}
          value={text}
          onChange={(event) => {
            setText(event.target.value);
            setSent(false);
          }}
        />
      </div>
      <ActTrouble text={trouble} />
      <div className="assign-head">
        <p className="quiet small" role="status">
          {sent && t('rooms.said')}
        </p>
        <button type="submit" className="secondary" aria-disabled={busy || text.trim() === ''}>
          {t('rooms.send')}
        </button>
      </div>
    </form>
  );
}
