import { newSeatKey } from './seatKey';

/**
 * Makes this tab the only one with that name while the tab lives, and returns
 * the way to let go of it; null when another tab still has it after that time.
 */
export type TabLock = (name: string, timeoutMs: number) => Promise<(() => void) | null>;

/** The browser's own locks: freed however the tab ends, also by a crash. */
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
        // A frame that may not lock is taken to be alone: it stores nothing either.
        .catch(() => resolve(abort.signal.aborted ? null : () => undefined));
    });
}

const replyTimeoutMs = 150;

/**
 * Pages without TLS have no locks. There a tab asks the others whether one of
 * them holds the name; a closed tab does not answer, so nothing stays held.
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
    for (const deadline = Date.now() + timeoutMs; ; ) {
      if (await isFree()) break;
      if (Date.now() >= deadline) {
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

/** The best hold this browser has. */
export function browserTabLock(): TabLock {
  if ('locks' in navigator) return webLocksTabLock(navigator.locks);
  if (typeof BroadcastChannel === 'function') return broadcastTabLock((name) => new BroadcastChannel(name));
  return () => Promise.resolve(() => undefined);
}
