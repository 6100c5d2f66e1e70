import { useEffect, useState } from 'react';
import type { Waiting } from '../../api/client';
import type { RoomActions } from '../../visit/roomActions';
import { useAction } from '../useAction';

/** Who waits to be let in, and what those who run the room do about it. */
export interface WaitingRoom {
  waiting: readonly Waiting[];
  /** An answer is under way. */
  busy: boolean;
  error: string | null;
  /** One of them, or all; false when the server did not do it. */
  admit: (identity?: string) => Promise<boolean>;
  turnAway: (identity: string) => Promise<boolean>;
}

const pollMs = 3_000;

/**
 * Everybody reads how many wait, only those who run the room who. They ask for
 * the names while anybody waits: one may go as another comes.
 */
export function useWaitingRoom(actions: RoomActions, isModerator: boolean, count: number): WaitingRoom {
  const { busy, error, run } = useAction();
  const [waitingPeople, setWaitingPeople] = useState<readonly Waiting[]>([]);
  // Those whom this page has answered, until the server says so too.
  const [handled, setHandled] = useState<ReadonlySet<string>>(new Set());
  const hasWaiting = isModerator && count > 0;

  useEffect(() => {
    if (!hasWaiting) return setWaitingPeople([]);
    let stopped = false;
    let timer: ReturnType<typeof setTimeout>;
    const poll = async (): Promise<void> => {
      const handle = await actions.people();
      if (stopped) return;
      if (handle.is === 'ok') setWaitingPeople(handle.value.waiting);
      timer = setTimeout(() => void poll(), pollMs);
    };
    void poll();
    return () => {
      stopped = true;
      clearTimeout(timer);
    };
  }, [actions, hasWaiting, count]);

  async function handle(identities: readonly string[], call: Parameters<typeof run<null>>[0]): Promise<boolean> {
    if (!(await run(call))) return false;
    setHandled((before) => new Set([...before, ...identities]));
    return true;
  }
  const waiting = waitingPeople.filter(({ identity }) => !handled.has(identity));
  return {
    waiting,
    busy,
    error,
    admit: (identity) => handle(identity === undefined ? waiting.map((one) => one.identity) : [identity], () => actions.admit(identity)),
    turnAway: (identity) => handle([identity], () => actions.turnAway(identity)),
  };
}
