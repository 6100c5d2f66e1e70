import { type ReactElement, useEffect, useState } from 'react';
import { count } from '../messages';

/** The seconds until the page tries again. Not a live region, because it would never stop speaking. */
export function Countdown({ ms }: { ms: number }): ReactElement {
  const [end] = useState(() => Date.now() + ms);
  const [left, setLeft] = useState(ms);
  useEffect(() => {
    const timer = setInterval(() => setLeft(Math.max(0, end - Date.now())), 500);
    return () => clearInterval(timer);
  }, [end]);
  return <p>{count('refused.attempts.wait', Math.ceil(left / 1000))}</p>;
}
