import { type FormEvent, type ReactElement, useId, useState } from 'react';
import { t } from '../../messages';
import { ActionError } from '../actions/ActionError';
import { useAction } from '../actions/useAction';
import type { BreakoutRoom } from '../connection/roomMetadata';
import { useMembership } from '../meeting';
import { BreakoutSelect } from './BreakoutSelect';
import type { PersonLocation } from './personLocations';

interface Props {
  rooms: readonly BreakoutRoom[];
  people: readonly PersonLocation[];
  onMoved: (identity: string, breakout: number) => void;
}

/** Moves people, opens another room, sends announcements and closes the rooms. */
export function ManageBreakouts({ rooms, people, onMoved }: Props): ReactElement {
  const { actions, seat } = useMembership();
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
      {rooms.length <= seat.max_breakouts && <AnotherRoom rooms={rooms} />}
      <Broadcast />
      <section className="sheet-part sheet-foot">
        <p className="quiet small">{t('rooms.close.text')}</p>
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

function AnotherRoom({ rooms }: { rooms: readonly BreakoutRoom[] }): ReactElement {
  const { actions } = useMembership();
  const [editedName, setEditedName] = useState<string | null>(null);
  const { busy, error, run } = useAction();
  const id = useId();
  const defaultName = t('rooms.usual', { n: Math.max(...rooms.map(({ number }) => number)) + 1 });

  async function open(event: FormEvent): Promise<void> {
    event.preventDefault();
    const opened = await run(() => actions.openBreakouts([editedName?.trim() || defaultName], {}));
    // The host may have written the next name meanwhile.
    if (opened) setEditedName((current) => (current === editedName ? null : current));
  }

  return (
    <form className="sheet-part" onSubmit={(event) => void open(event)}>
      <div className="field">
        <label htmlFor={id}>{t('rooms.add')}</label>
        <div className="field-action">
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

function Broadcast(): ReactElement {
  const { actions } = useMembership();
  const [text, setText] = useState('');
  const [sent, setSent] = useState(false);
  const { busy, error, run } = useAction();
  const id = useId();

  async function send(event: FormEvent): Promise<void> {
    event.preventDefault();
    const trimmed = text.trim();
    if (trimmed === '' || !(await run(() => actions.broadcast(trimmed)))) return;
    // The host may have written the next announcement meanwhile.
    setText((current) => (current === text ? '' : current));
    setSent(true);
  }

  return (
    <form className="sheet-part" onSubmit={(event) => void send(event)}>
      <div className="field">
        <label htmlFor={id}>{t('rooms.broadcast')}</label>
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
          {sent && t('rooms.broadcastSent')}
        </p>
        <button type="submit" className="secondary" aria-disabled={busy || text.trim() === ''}>
          {t('rooms.send')}
        </button>
      </div>
    </form>
  );
}
