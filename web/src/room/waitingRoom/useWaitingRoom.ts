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

/** Returns the identities of `handled` that a list of the server still has. The others may ask again. */
export function stillListed(handled: ReadonlySet<string>, list: readonly Waiting[]): ReadonlySet<string> {
  const listed = list.filter(({ identity }) => handled.has(identity));
  return listed.length === handled.size ? handled : new Set(listed.map(({ identity }) => identity));
}

/**
 * `waitingCount` is how many people wait, and `loaded` are the waiting people in the server's list; null when it is
 * not loaded.
 */
export function useWaitingRoom(actions: RoomActions, waitingCount: number, loaded: readonly Waiting[] | null): WaitingRoom {
  const { busy, error, run } = useAction();
  const list = waitingCount === 0 ? noneWaiting : loaded;
  // The people who were admitted or turned away, until the server's list follows.
  const [handled, setHandled] = useState<ReadonlySet<string>>(new Set());
  useEffect(() => {
    if (list) setHandled(stillListed(handled, list));
  }, [handled, list]);
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
  const waiting = (list ?? noneWaiting).filter(({ identity }) => !handled.has(identity));
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
