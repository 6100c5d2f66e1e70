import { useEffect, useRef, useState, type ReactElement } from 'react';
import { count, t } from '../../messages';
import { ActTrouble } from '../ActTrouble';
import type { Door } from './useDoor';

/** Says to those who run the room that somebody waits, the first of them by name. */
export function DoorNotice({ door }: { door: Door }): ReactElement {
  const { waiting, busy, trouble, letIn, turnAway } = door;
  const [first] = waiting;
  return (
    <>
      <DoorNews waiting={waiting} />
      {first && (
        // Another one is another notice: nobody lets in whom they did not mean.
        <div key={first.identity} className="banner door">
          <p>
            {t('door.waits', { name: first.name })}
            {waiting.length > 1 && <span className="small quiet"> {count('door.more', waiting.length - 1)}</span>}
          </p>
          <div className="tool-row">
            <button type="button" className="primary" aria-disabled={busy} onClick={() => void letIn(first.identity)}>
              {t('door.letIn')}
            </button>
            <button type="button" className="secondary" aria-disabled={busy} onClick={() => void turnAway(first.identity)}>
              {t('door.turnAway')}
            </button>
            {waiting.length > 1 && (
              <button type="button" className="secondary" aria-disabled={busy} onClick={() => void letIn()}>
                {t('door.letAllIn')}
              </button>
            )}
          </div>
          <ActTrouble text={trouble} />
        </div>
      )}
    </>
  );
}

/** Tells those who listen of each who comes to wait, once. */
function DoorNews({ waiting }: Pick<Door, 'waiting'>): ReactElement {
  const [said, setSaid] = useState('');
  const known = useRef<ReadonlySet<string>>(new Set());
  useEffect(() => {
    const fresh = waiting.filter(({ identity }) => !known.current.has(identity));
    known.current = new Set(waiting.map(({ identity }) => identity));
    const [first] = fresh;
    if (first) setSaid(fresh.length > 1 ? count('door.many', fresh.length) : t('door.waits', { name: first.name }));
  }, [waiting]);
  return (
    <p className="sr-only" role="status">
      {said}
    </p>
  );
}
