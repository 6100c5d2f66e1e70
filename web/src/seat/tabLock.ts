import { newSeatKey } from './seatKey';

/**
 * Acquires a lock of this name for the life of the tab. Resolves to a function that
 * releases it; null when another tab still holds it after the timeout.
 */
export type TabLock = (name: string, timeoutMs: number) => Promise<(() => void) | null>;

/** With the Web Locks API. The lock is released however the tab ends, also by a crash. */
function webLocksTabLock(locks: LockManager): TabLock {
  return (name, timeoutMs) =>
    new Promise((resolve) => {
      const abort = new AbortController();
      const timer = timeoutMs === Infinity ? undefined : setTimeout(() => abort.abort(), timeoutMs);
      const options: LockOptions = timeoutMs > 0 ? { signal: abort.signal } : { ifAvailable: true };
      locks
        .request(name, options, (lock) => {
          clearTimeout(timer);
          if (lock === null) return resolve(null);
          return new Promise<void>((release) => resolve(release));
        })
        // A frame that may not use locks counts as the only tab, because it stores nothing either.
        .catch(() => resolve(abort.signal.aborted ? null : () => undefined));
    });
}

const replyTimeoutMs = 150;

/**
 * Pages without TLS have no Web Locks. Instead, a tab asks the others whether one of them
 * holds the lock. A closed tab does not respond, so that no lock is left behind.
 */
function broadcastTabLock(open: (name: string) => BroadcastChannel): TabLock {
  return async (name, timeoutMs) => {
    const tabId = newSeatKey();
    const channel = open(name);
    const isFree = (): Promise<boolean> =>
      new Promise((resolve) => {
        const timer = setTimeout(() => resolve(true), replyTimeoutMs);
        channel.onmessage = ({ data }: MessageEvent<unknown>) => {
          if (data !== 'held') return;
          clearTimeout(timer);
          resolve(false);
        };
        channel.postMessage(tabId);
      });
    for (const deadline = performance.now() + timeoutMs; ; ) {
      if (await isFree()) break;
      if (performance.now() >= deadline) {
        channel.close();
        return null;
      }
      await new Promise((resolve) => setTimeout(resolve, replyTimeoutMs));
    }
    channel.onmessage = ({ data }: MessageEvent<unknown>) => {
      if (data !== 'held' && data !== tabId) channel.postMessage('held');
    };
    return () => channel.close();
  };
}

/** The best implementation that the browser supports. */
export function browserTabLock(): TabLock {
  if ('locks' in navigator) return webLocksTabLock(navigator.locks);
  if (typeof BroadcastChannel === 'function') return broadcastTabLock((name) => new BroadcastChannel(name));
  return () => Promise.resolve(() => undefined);
}
