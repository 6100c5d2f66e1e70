import { useEffect, useReducer, useRef } from 'react';

/** Milliseconds. A camera is on within this time after its owner has joined. */
const settleMs = 3_000;

/** Returns those of the keys that are on the list for a while, so that nobody who joins moves twice. */
export function useSettled(keys: readonly string[]): ReadonlySet<string> {
  const since = useRef<ReadonlyMap<string, number>>(new Map());
  const [, update] = useReducer((times: number) => times + 1, 0);
  const now = performance.now();
  since.current = new Map(keys.map((key) => [key, since.current.get(key) ?? now]));
  const next = Math.min(...[...since.current.values()].map((start) => start + settleMs).filter((end) => end > now));
  useEffect(() => {
    if (next === Infinity) return;
    const timer = setTimeout(update, Math.max(0, next - performance.now()) + 1);
    return () => clearTimeout(timer);
  }, [next]);
  return new Set([...since.current].filter(([, start]) => now - start >= settleMs).map(([key]) => key));
}
