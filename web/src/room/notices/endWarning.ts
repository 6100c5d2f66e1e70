import { useEffect, useState } from 'react';
import type { ServerClock } from '../../time/serverClock';

const minute = 60_000;

/** Shown when the room has at most `level` minutes left. */
export interface EndWarning {
  level: 5 | 1;
  /** The minutes left when the warning appeared. */
  minutes: number;
}

export function endWarningAt(left: number, before: EndWarning | null): EndWarning | null {
  const level = left <= minute ? 1 : left <= 5 * minute ? 5 : null;
  if (level === null) return null;
  // Keeps the same warning, so that the text does not change while it is read.
  return before?.level === level ? before : { level, minutes: Math.max(1, Math.ceil(left / minute)) };
}

/**
 * The delay until the next check: at the next warning, but at most a minute, because
 * timers stop while the machine sleeps.
 */
function nextCheckIn(left: number): number | null {
  const next = [5 * minute, minute].find((threshold) => left > threshold);
  return next === undefined ? null : Math.min(left - next, minute);
}

export function useEndWarning(endsAt: number | null, clock: ServerClock): EndWarning | null {
  const [warning, setWarning] = useState<EndWarning | null>(null);
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout>;
    const check = (): void => {
      const left = endsAt === null ? Infinity : endsAt - clock.now();
      setWarning((before) => endWarningAt(left, before));
      const wait = endsAt === null ? null : nextCheckIn(left);
      if (wait !== null) timer = setTimeout(check, wait);
    };
    check();
    return () => clearTimeout(timer);
  }, [endsAt, clock]);
  return warning;
}
