import { useEffect } from 'react';

/** Milliseconds. The audio and video of others come first; no screen turns off that soon. */
const startDelayMs = 3_000;

/**
 * Keeps the screen of a phone on. The browser releases the lock whenever the page is
 * hidden (https://w3c.github.io/screen-wake-lock/), and may refuse it to save the battery.
 */
export function useWakeLock(wanted: boolean): void {
  useEffect(() => {
    // The type says that it always exists; older browsers and pages without TLS do not have it.
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
