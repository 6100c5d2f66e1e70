import { useEffect, useState } from 'react';

/** True once the condition has held that long: what passes by itself need not be told. */
export function useDelayedTrue(condition: boolean, ms: number): boolean {
  const [delayed, setLasted] = useState(false);
  useEffect(() => {
    if (!condition) return;
    const timer = setTimeout(() => setLasted(true), ms);
    return () => {
      clearTimeout(timer);
      setLasted(false);
    };
  }, [condition, ms]);
  return condition && delayed;
}
