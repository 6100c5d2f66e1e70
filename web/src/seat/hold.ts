import { newSeatKey } from './key';

/**
 * Makes this tab the only one with that name while the tab lives, and returns
 * the way to let go of it; null when another tab still has it after that time.
 */
export type Hold = (name: string, patienceMs: number) => Promise<(() => void) | null>;

/** The browser's own locks: freed however the tab ends, also by a crash. */
function lockHold(locks: LockManager): Hold {
  return (name, patienceMs) =>
    new Promise((resolve) => {
      const abort = new AbortController();
      const timer = patienceMs === Infinity ? undefined : setTimeout(() => abort.abort(), patienceMs);
      const options: LockOptions = patienceMs > 0 ? { signal: abort.signal } : { ifAvailable: true };
      locks
        .request(name, options, (lock) => {
          clearTimeout(timer);
          if (lock === null) return resolve(null);
          return new Promise<void>((letGo) => resolve(letGo));
        })
        // A frame that may not lock is taken to be alone: it stores nothing either.
        .catch(() => resolve(abort.signal.aborted ? null : () => undefined));
    });
}

const answerTime = 150;

/**
 * Pages without TLS have no locks. There a tab asks the others whether one of
 * them holds the name; a closed tab does not answer, so nothing stays held.
 */
function askingHold(open: (name: string) => BroadcastChannel): Hold {
  return async (name, patienceMs) => {
    const me = newSeatKey();
    const channel = open(name);
    const free = (): Promise<boolean> =>
      new Promise((resolve) => {
        const timer = setTimeout(() => resolve(true), answerTime);
        channel.onmessage = ({ data }: MessageEvent<unknown>) => {
          if (data !== 'held') return;
          clearTimeout(timer);
          resolve(false);
        };
        channel.postMessage(me);
      });
    for (const end = Date.now() + patienceMs; ; ) {
      if (await free()) break;
      if (Date.now() >= end) {
        channel.close();
        return null;
      }
      await new Promise((resolve) => setTimeout(resolve, answerTime));
    }
    channel.onmessage = ({ data }: MessageEvent<unknown>) => {
      if (data !== 'held' && data !== me) channel.postMessage('held');
    };
    return () => channel.close();
  };
}

/** The best hold this browser has. */
export function browserHold(): Hold {
  if ('locks' in navigator) return lockHold(navigator.locks);
  if (typeof BroadcastChannel === 'function') return askingHold((name) => new BroadcastChannel(name));
  return () => Promise.resolve(() => undefined);
}
