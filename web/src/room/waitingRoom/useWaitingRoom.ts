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
  /** How many actions have failed. */
  failures: number;
  /** Admits one person or all. Resolves to false when that failed. */
  admit: (identity?: string) => Promise<boolean>;
  deny: (identity: string) => Promise<boolean>;
  /** A person who was admitted some time ago and is not in the room; null for none. */
  absent: Waiting | null;
}

/** Milliseconds in which the page of an admitted person usually joins. A page in the background needs a minute. */
const joinMs = 15_000;

const noneWaiting: readonly Waiting[] = [];

/** `list` are the waiting people in the server's list; null when it is not known. */
export function useWaitingRoom(actions: RoomActions, list: readonly Waiting[] | null, isHere: (identity: string) => boolean): WaitingRoom {
  const { busy, error, run } = useAction();
  const waitingPeople = list ?? noneWaiting;
  // The people who were admitted or turned away, until the server's list follows.
  const [handled, setHandled] = useState<ReadonlySet<string>>(new Set());
  const [admitted, setAdmitted] = useState<readonly Waiting[]>([]);
  const [failures, setFailures] = useState(0);
  const [overdue, setOverdue] = useState<ReadonlySet<string>>(new Set());

  useEffect(() => {
    if (admitted.some(({ identity }) => isHere(identity))) setAdmitted(admitted.filter(({ identity }) => !isHere(identity)));
  });

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
      setAdmitted((before) => [...before, ...people]);
      setTimeout(() => setOverdue((before) => new Set([...before, ...people.map((one) => one.identity)])), joinMs);
    }
    return done;
  }
  return {
    waiting,
    busy,
    error,
    failures,
    admit: (identity) => admit(identity === undefined ? waiting : waiting.filter((one) => one.identity === identity), identity),
    absent: admitted.find(({ identity }) => overdue.has(identity)) ?? null,
    deny: (identity) => handle([identity], () => actions.deny(identity)),
  };
}
