import { useEffect, useState } from 'react';

/** Returns true once the condition has been true for that long, so that short disturbances are not shown. */
export function useDelayedTrue(condition: boolean, ms: number): boolean {
  const [delayed, setDelayed] = useState(false);
  useEffect(() => {
    if (!condition) return;
    const timer = setTimeout(() => setDelayed(true), ms);
    return () => {
      clearTimeout(timer);
      setDelayed(false);
    };
  }, [condition, ms]);
  return condition && delayed;
}
