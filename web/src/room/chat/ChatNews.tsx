import { useEffect, useRef, useState, type ReactElement } from 'react';
import { count, t } from '../../messages';
import { beginning, since, type Line, type Log } from './log';

/** What comes within that time is told of together. */
const together = 1_500;

/** Tells those who listen what others read from the count on the button. The open chat reads itself out. */
export function ChatNews({ log: { entries, open } }: { log: Log }): ReactElement {
  const [said, setSaid] = useState('');
  const before = useRef(entries);
  const waiting = useRef<Line[]>([]);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);

  useEffect(() => {
    const fresh = since(before.current, entries);
    before.current = entries;
    if (open) waiting.current = [];
    else waiting.current.push(...fresh);
    if (waiting.current.length === 0 || timer.current !== undefined) return;
    timer.current = setTimeout(() => {
      timer.current = undefined;
      const lines = waiting.current.splice(0);
      const [first] = lines;
      if (first) {
        setSaid(
          lines.length > 1
            ? count('chat.new', lines.length)
            : t('chat.says', { name: first.name || t('chat.somebody'), text: beginning(first.text, 160) }),
        );
      }
    }, together);
  }, [entries, open]);
  useEffect(() => () => clearTimeout(timer.current), []);

  return (
    <p className="sr-only" role="status">
      {said}
    </p>
  );
}
