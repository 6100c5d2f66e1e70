import { useEffect, useState } from 'react';
import type { Lazy } from './lazy';
import { useStore } from './useStore';

const retryMs = 2_000;

/** Returns the part once it is loaded. While it is wanted and missing, loading is retried. */
export function useLazy<T>(lazy: Lazy<T>, wanted: boolean): { part: T | null; failed: boolean } {
  const part = useStore(lazy.loaded);
  const [failed, setFailed] = useState(false);
  const missing = wanted && part === null;
  useEffect(() => {
    if (!missing) return;
    let timer: ReturnType<typeof setTimeout> | undefined;
    let canceled = false;
    const load = (): void => {
      lazy.get().catch(() => {
        if (canceled) return;
        setFailed(true);
        timer = setTimeout(load, retryMs);
      });
    };
    load();
    return () => {
      canceled = true;
      clearTimeout(timer);
    };
  }, [lazy, missing]);
  return { part, failed: missing && failed };
}
