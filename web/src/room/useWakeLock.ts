import { useEffect } from 'react';

/** Milliseconds in which others are heard and seen first; no screen goes dark so soon. */
const startDelayMs = 3_000;

/**
 * Keeps the screen of a phone on while somebody watches. The browser lets go of
 * it whenever the page is hidden (https://w3c.github.io/screen-wake-lock/), and
 * may refuse it to save the battery.
 */
export function useWakeLock(wanted: boolean): void {
  useEffect(() => {
    // Typed as always there; older browsers and pages without TLS have none.
    const wakeLock = (navigator as Partial<Navigator>).wakeLock;
    if (!wanted || !wakeLock) return;
    let lock: Promise<WakeLockSentinel | null> | null = null;
    const acquire = (): void => {
      if (document.hidden) return;
      void release();
      lock = wakeLock.request('screen').catch(() => null);
    };
    const release = async (): Promise<void> => {
      await (await lock)?.release();
    };
    const timer = setTimeout(acquire, startDelayMs);
    document.addEventListener('visibilitychange', acquire);
    return () => {
      clearTimeout(timer);
      document.removeEventListener('visibilitychange', acquire);
      void release();
    };
  }, [wanted]);
}
