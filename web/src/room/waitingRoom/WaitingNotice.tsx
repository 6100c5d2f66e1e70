import { type ReactElement, useEffect, useRef } from 'react';
import type { Waiting } from '../../api/client';
import { count, t } from '../../messages';
import { ActionError } from '../actions/ActionError';
import { useMeetingPeople, useMeetingView } from '../meeting';
import { Toast } from '../notices/Toast';
import { useAnnouncer } from '../notices/useAnnouncer';
import type { WaitingRoom } from './useWaitingRoom';

/** Tells hosts that somebody waits, with the name of the first person, unless the list of people shows the same. */
export function WaitingNotice(): ReactElement {
  const { waitingRoom } = useMeetingPeople();
  const { open } = useMeetingView();
  const { waiting, busy, error, failures, admit, deny, absent } = waitingRoom;
  const [first] = waiting;
  return (
    <>
      <WaitingLiveRegion waiting={waiting} />
      {/* Apart from the person, who may have left, and is then no longer shown. */}
      {error && open.panel !== 'people' && (
        <Toast key={failures}>
          <ActionError text={error} />
        </Toast>
      )}
      {absent.map(({ identity, name }) => (
        <Toast key={identity}>
          <p role="status">{t('waitingRoom.absent', { name })}</p>
        </Toast>
      ))}
      {first && open.panel !== 'people' && (
        // A new key for each person, so that a press cannot hit the next person by accident.
        <div key={first.identity} className="toast knock">
          <p>
            {t('waitingRoom.person', { name: first.name })}
            {waiting.length > 1 && <span className="small quiet"> {count('waitingRoom.more', waiting.length - 1)}</span>}
          </p>
          <div className="tool-row">
            <button type="button" className="primary" aria-disabled={busy} onClick={() => void admit(first.identity)}>
              {t('waitingRoom.admit')}
            </button>
            <button type="button" className="secondary" aria-disabled={busy} onClick={() => void deny(first.identity)}>
              {t('waitingRoom.deny')}
            </button>
            {waiting.length > 1 && (
              <button type="button" className="secondary" aria-disabled={busy} onClick={() => void admit()}>
                {t('waitingRoom.admitAll')}
              </button>
            )}
          </div>
        </div>
      )}
    </>
  );
}

/** A live region that announces each waiting person once. */
function WaitingLiveRegion({ waiting }: Pick<WaitingRoom, 'waiting'>): ReactElement {
  const [text, announce] = useAnnouncer<Waiting>((added) => {
    const [first] = added;
    return added.length > 1 ? count('waitingRoom.people', added.length) : first ? t('waitingRoom.person', { name: first.name }) : '';
  });
  const known = useRef<ReadonlySet<string>>(new Set());
  useEffect(() => {
    const added = waiting.filter(({ identity }) => !known.current.has(identity));
    known.current = new Set(waiting.map(({ identity }) => identity));
    announce(added);
  }, [waiting, announce]);
  return (
    <p className="sr-only" role="status">
      {text}
    </p>
  );
}
