import { useEffect, useState } from 'react';
import type { Waiting } from '../../api/client';
import type { RoomActions } from '../../visit/roomActions';
import { useAction } from '../actions/useAction';

/** The people who wait to be admitted, and the actions of hosts. */
export interface WaitingRoom {
  waiting: readonly Waiting[];
  /** An action is running. */
  busy: boolean;
  error: string | null;
  /** Admits one person or all. Resolves to false when that failed. */
  admit: (identity?: string) => Promise<boolean>;
  turnAway: (identity: string) => Promise<boolean>;
}

const pollMs = 3_000;

/**
 * The metadata only has the number of waiting people; hosts poll the names while anybody
 * waits, because one may leave as another arrives.
 */
export function useWaitingRoom(actions: RoomActions, isModerator: boolean, count: number): WaitingRoom {
  const { busy, error, run } = useAction();
  const [waitingPeople, setWaitingPeople] = useState<readonly Waiting[]>([]);
  // The people who were admitted or turned away, until the server's list follows.
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
