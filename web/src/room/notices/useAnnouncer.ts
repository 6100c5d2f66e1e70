import { useCallback, useEffect, useMemo, useRef, useState } from 'react';
import { Announcer } from './announcer';

/**
 * Returns the text of a live region and a function that announces items. `describe` returns the text
 * about all items that came within `batchMs`, or while the text before was being read.
 */
export function useAnnouncer<T>(describe: (items: T[]) => string, batchMs = 0): [text: string, announce: (items: readonly T[]) => void] {
  const [text, setText] = useState('');
  const pending = useRef<T[]>([]);
  const latest = useRef(describe);
  latest.current = describe;
  const announcer = useMemo(() => new Announcer(() => latest.current(pending.current.splice(0)), setText, batchMs), []);
  useEffect(() => () => announcer.stop(), [announcer]);
  const announce = useCallback(
    (items: readonly T[]): void => {
      if (items.length === 0) return;
      pending.current.push(...items);
      announcer.update();
    },
    [announcer],
  );
  return [text, announce];
}
