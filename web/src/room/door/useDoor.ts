import { useEffect, useState } from 'react';
import type { Waiting } from '../../api/client';
import type { Acts } from '../../visit/acts';
import { useAct } from '../useAct';

/** Who waits to be let in, and what those who run the room do about it. */
export interface Door {
  waiting: readonly Waiting[];
  /** An answer is under way. */
  busy: boolean;
  trouble: string | null;
  /** One of them, or all; false when the server did not do it. */
  letIn: (identity?: string) => Promise<boolean>;
  turnAway: (identity: string) => Promise<boolean>;
}

const every = 3_000;

/**
 * Everybody reads how many wait, only those who run the room who. They ask for
 * the names while anybody waits: one may go as another comes.
 */
export function useDoor(acts: Acts, runs: boolean, count: number): Door {
  const { busy, trouble, run } = useAct();
  const [told, setTold] = useState<readonly Waiting[]>([]);
  // Those whom this page has answered, until the server says so too.
  const [done, setDone] = useState<ReadonlySet<string>>(new Set());
  const some = runs && count > 0;

  useEffect(() => {
    if (!some) return setTold([]);
    let over = false;
    let timer: ReturnType<typeof setTimeout>;
    const ask = async (): Promise<void> => {
      const answer = await acts.people();
      if (over) return;
      if (answer.is === 'ok') setTold(answer.value.waiting);
      timer = setTimeout(() => void ask(), every);
    };
    void ask();
    return () => {
      over = true;
      clearTimeout(timer);
    };
  }, [acts, some, count]);

  async function answer(those: readonly string[], ask: Parameters<typeof run<null>>[0]): Promise<boolean> {
    if (!(await run(ask))) return false;
    setDone((before) => new Set([...before, ...those]));
    return true;
  }
  const waiting = told.filter(({ identity }) => !done.has(identity));
  return {
    waiting,
    busy,
    trouble,
    letIn: (identity) => answer(identity === undefined ? waiting.map((one) => one.identity) : [identity], () => acts.letIn(identity)),
    turnAway: (identity) => answer([identity], () => acts.turnAway(identity)),
  };
}
