import { useEffect, useState } from 'react';
import type { ServerClock } from './serverClock';

/** Returns the server's time. While active, it is updated on every full second. */
export function useServerTime(clock: ServerClock, active: boolean): number {
  const [now, setNow] = useState(clock.now);
  useEffect(() => {
    if (!active) return;
    let timer: ReturnType<typeof setTimeout>;
    const tick = (): void => {
      setNow(clock.now());
      // A little later than the full second, so that no second is shown twice.
      timer = setTimeout(tick, 1_010 - (((clock.now() % 1_000) + 1_000) % 1_000));
    };
    tick();
    return () => clearTimeout(timer);
  }, [clock, active]);
  return now;
}
