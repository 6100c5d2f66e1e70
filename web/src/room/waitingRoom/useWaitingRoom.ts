import { useEffect, useRef, useState } from 'react';
import type { Waiting } from '../../api/client';
import type { RoomActions } from '../../visit/roomActions';
import { useAction } from '../actions/useAction';

/** The people who wait to be admitted, and the actions of hosts. */
export interface WaitingRoom {
  waiting: readonly Waiting[];
  /** An action is running. */
  busy: boolean;
  error: string | null;
  /** How many actions have failed. */
  failures: number;
  /** Admits one person or all. Resolves to false when that failed. */
  admit: (identity?: string) => Promise<boolean>;
  deny: (identity: string) => Promise<boolean>;
  /** The people who were admitted some time ago and are in none of the rooms. */
  absent: readonly Waiting[];
}

/** Milliseconds in which the page of an admitted person usually joins. A page in the background needs a minute. */
const joinMs = 15_000;

const noneWaiting: readonly Waiting[] = [];

/** `list` are the waiting people in the server's list; null when it is not known. */
export function useWaitingRoom(actions: RoomActions, list: readonly Waiting[] | null): WaitingRoom {
  const { busy, error, run } = useAction();
  const waitingPeople = list ?? noneWaiting;
  // The people who were admitted or turned away, until the server's list follows.
  const [handled, setHandled] = useState<ReadonlySet<string>>(new Set());
  const [failures, setFailures] = useState(0);
  const [absent, setAbsent] = useState<readonly Waiting[]>([]);
  const timers = useRef<ReturnType<typeof setTimeout>[]>([]);
  useEffect(() => () => timers.current.forEach(clearTimeout), []);

  /** Looks in all rooms, because the host may be in another breakout room than the admitted people. */
  async function findAbsent(admitted: readonly Waiting[]): Promise<void> {
    const result = await actions.people();
    if (result.is !== 'ok') return;
    const present = new Set(result.value.people.map(({ identity }) => identity));
    const missing = admitted.filter(({ identity }) => !present.has(identity));
    setAbsent((before) => [...before.filter(({ identity }) => !missing.some((one) => one.identity === identity)), ...missing]);
  }

  async function handle(identities: readonly string[], call: Parameters<typeof run<null>>[0]): Promise<boolean> {
    if (!(await run(call))) {
      setFailures((before) => before + 1);
      return false;
    }
    setHandled((before) => new Set([...before, ...identities]));
    return true;
  }
  const waiting = waitingPeople.filter(({ identity }) => !handled.has(identity));
  async function admit(people: readonly Waiting[], identity?: string): Promise<boolean> {
    const done = await handle(
      people.map((one) => one.identity),
      () => actions.admit(identity),
    );
    if (done) {
      timers.current.push(setTimeout(() => void findAbsent(people), joinMs));
    }
    return done;
  }
  return {
    waiting,
    busy,
    error,
    failures,
    admit: (identity) => admit(identity === undefined ? waiting : waiting.filter((one) => one.identity === identity), identity),
    absent,
    deny: (identity) => handle([identity], () => actions.deny(identity)),
  };
}
