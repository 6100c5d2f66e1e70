import { useId, useState, type FormEvent, type ReactElement } from 'react';
import { t } from '../../messages';
import type { Acts } from '../../visit/acts';
import type { Place } from '../info';
import { ActTrouble } from '../ActTrouble';
import { PlaceSelect } from './PlaceSelect';
import { useAct } from '../useAct';
import type { Sent, Whereabouts } from './whereabouts';

interface Props {
  acts: Acts;
  places: readonly Place[];
  people: readonly Whereabouts[];
  onSent: (sent: [identity: string, sent: Sent][]) => void;
}

/** What hosts do while breakout rooms are open: move people, speak to all, close the rooms. */
export function RunRooms({ acts, places, people, onSent }: Props): ReactElement {
  const moving = useAct();
  const closing = useAct();

  async function move({ identity, name }: Whereabouts, to: number): Promise<void> {
    if (await moving.run(() => acts.move(identity, to))) onSent([[identity, { name, to }]]);
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
