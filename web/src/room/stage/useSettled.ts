import { useEffect, useReducer, useRef } from 'react';

/** Milliseconds. A camera is on within this time after its owner has joined. */
const settleMs = 3_000;

/**
 * Returns those of the keys that are on the list for a while, so that nobody who joins
 * moves twice. The keys on hold keep the state that they had.
 */
export function useSettled(keys: readonly string[], onHold: readonly string[]): ReadonlySet<string> {
  const since = useRef<ReadonlyMap<string, number>>(new Map());
  const [, update] = useReducer((times: number) => times + 1, 0);
  const now = performance.now();
  const held = onHold.filter((key) => since.current.has(key));
  since.current = new Map([...keys, ...held].map((key) => [key, since.current.get(key) ?? now]));
  const next = Math.min(...[...since.current.values()].map((start) => start + settleMs).filter((end) => end > now));
  useEffect(() => {
    if (next === Infinity) return;
    const timer = setTimeout(update, Math.max(0, next - performance.now()) + 1);
    return () => clearTimeout(timer);
  }, [next]);
  return new Set([...since.current].filter(([, start]) => now - start >= settleMs).map(([key]) => key));
}
