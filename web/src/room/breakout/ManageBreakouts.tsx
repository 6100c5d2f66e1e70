import { useId, useState, type FormEvent, type ReactElement } from 'react';
import { t } from '../../messages';
import type { RoomActions } from '../../visit/roomActions';
import type { BreakoutRoom } from '../connection/roomMetadata';
import { ActionError } from '../actions/ActionError';
import { BreakoutSelect } from './BreakoutSelect';
import { useAction } from '../actions/useAction';
import type { PersonLocation } from './personLocations';

interface Props {
  actions: RoomActions;
  rooms: readonly BreakoutRoom[];
  /** How many rooms may be open at once. */
  maxRooms: number;
  people: readonly PersonLocation[];
  onMoved: (identity: string, breakout: number) => void;
}

/** Moves people, opens another room, sends announcements and closes the rooms. */
export function ManageBreakouts({ actions, rooms, maxRooms, people, onMoved }: Props): ReactElement {
  const moving = useAction();
  const closing = useAction();

  async function move({ identity }: PersonLocation, to: number): Promise<void> {
    if (await moving.run(() => actions.move(identity, to))) onMoved(identity, to);
  }

  return (
    <>
      {people.length > 0 && (
        <section className="sheet-part">
          <h3>{t('rooms.who')}</h3>
          <ul>
            {people.map((person) => (
              <BreakoutSelect
                key={person.identity}
                person={person.name}
                rooms={rooms}
                value={person.breakout}
                onChoose={(to) => void move(person, to)}
              />
            ))}
          </ul>
          <ActionError text={moving.error} />
        </section>
      )}
      {rooms.length <= maxRooms && <AnotherRoom actions={actions} rooms={rooms} />}
      <Broadcast actions={actions} />
      <section className="sheet-part">
        <p className="quiet">{t('rooms.close.text')}</p>
        <ActionError text={closing.error} />
        <button
          type="button"
          className="secondary wide"
          aria-disabled={closing.busy}
          onClick={() => void closing.run(() => actions.closeBreakouts())}
        >
          {t(closing.busy ? 'rooms.closing' : 'rooms.close')}
        </button>
      </section>
    </>
  );
}

function AnotherRoom({ actions, rooms }: { actions: RoomActions; rooms: readonly BreakoutRoom[] }): ReactElement {
  const [editedName, setEditedName] = useState<string | null>(null);
  const { busy, error, run } = useAction();
  const id = useId();
  const defaultName = t('rooms.usual', { n: Math.max(...rooms.map(({ number }) => number)) + 1 });

  async function open(event: FormEvent): Promise<void> {
    event.preventDefault();
    if (await run(() => actions.openBreakouts([editedName?.trim() || defaultName], {}))) setEditedName(null);
  }

  return (
    <form className="sheet-part" onSubmit={(event) => void open(event)}>
      <div className="field">
        <label htmlFor={id}>{t('rooms.another')}</label>
        <div className="field-act">
          <input id={id} value={editedName ?? defaultName} maxLength={60} onChange={(event) => setEditedName(event.target.value)} />
          <button type="submit" className="secondary" aria-disabled={busy}>
            {t(busy ? 'rooms.opening' : 'rooms.openIt')}
          </button>
        </div>
      </div>
      <ActionError text={error} />
    </form>
  );
}

function Broadcast({ actions }: { actions: RoomActions }): ReactElement {
  const [text, setText] = useState('');
  const [sent, setSent] = useState(false);
  const { busy, error, run } = useAction();
  const id = useId();

  async function send(event: FormEvent): Promise<void> {
    event.preventDefault();
    const trimmed = text.trim();
    if (trimmed === '' || !(await run(() => actions.broadcast(trimmed)))) return;
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
      <ActionError text={error} />
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
