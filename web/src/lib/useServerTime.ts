import { useEffect, useState } from 'react';
import type { ServerClock } from './clock';

/** The server's time, told once a second on the full second while it is wanted. */
export function useServerTime(clock: ServerClock, active: boolean): number {
  const [now, setNow] = useState(clock.now);
  useEffect(() => {
    if (!active) return;
    let timer: ReturnType<typeof setTimeout>;
    const tick = (): void => {
      setNow(clock.now());
      // A little later, so that no second is told twice.
      timer = setTimeout(tick, 1_010 - (((clock.now() % 1_000) + 1_000) % 1_000));
    };
    tick();
    return () => clearTimeout(timer);
  }, [clock, active]);
  return now;
}
