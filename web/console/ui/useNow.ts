import { useSyncExternalStore } from 'react';

const everyMs = 10_000;
let now = Date.now();
const listeners = new Set<() => void>();
let timer: ReturnType<typeof setInterval> | undefined;

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  if (timer === undefined) now = Date.now(); // nobody has updated it
  timer ??= setInterval(() => {
    now = Date.now();
    for (const one of [...listeners]) one();
  }, everyMs);
  return () => {
    listeners.delete(listener);
    if (listeners.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  };
}

/** Returns the local time in milliseconds, updated every ten seconds, so that distances in time are right. */
export function useNow(): number {
  return useSyncExternalStore(subscribe, () => now);
}
