import type { ReactElement, ReactNode } from 'react';
import { formatAgo, formatTime, formatUTC } from '../format';
import { useNow } from './useNow';

/**
 * A time in the time zone of the browser; with `ago`, the distance of a time that has passed. Its tooltip has UTC and the distance.
 */
export function Time({ at, ago = false }: { at: string | null | undefined; ago?: boolean }): ReactElement {
  const now = useNow();
  if (!at) return <span className="quiet">–</span>;
  const ms = Date.parse(at);
  return (
    <time dateTime={at} title={`${formatUTC(ms)}, ${formatAgo(ms, now)}`}>
      {ago ? formatAgo(Math.min(ms, now), now) : formatTime(ms, now)}
    </time>
  );
}

const apiTime = /\b(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z)/;

/** A text of the API, whose times are shown as all others of the page. */
export function WithTimes({ text }: { text: string }): ReactElement {
  return <>{text.split(apiTime).map((part, i) => (i % 2 === 1 ? <Time key={i} at={part} /> : part))}</>;
}

export type Tone = 'good' | 'warn' | 'bad' | 'idle' | 'busy';

/** A state: its word, and a mark whose shape and color say how good it is. */
export function Status({ tone, children }: { tone: Tone; children: ReactNode }): ReactElement {
  return (
    <span className="status" data-tone={tone}>
      {children}
    </span>
  );
}

/** The tone of an HTTP status. */
export function toneOfStatus(status: number): Tone {
  if (status === 0 || status >= 500) return 'bad';
  return status >= 400 ? 'warn' : 'good';
}

/** A list of names and values. */
export function Facts({ rows }: { rows: (readonly [name: string, value: ReactNode] | null | false)[] }): ReactElement {
  return (
    <dl className="facts">
      {rows.map(
        (row) =>
          row && (
            <div key={row[0]}>
              <dt>{row[0]}</dt>
              <dd>{row[1]}</dd>
            </div>
          ),
      )}
    </dl>
  );
}
