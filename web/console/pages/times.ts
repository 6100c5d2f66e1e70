const written = /^(\d{4})-(\d{2})-(\d{2})(?:[ T](\d{1,2}):(\d{2}))?$/;

/** Reads a time that somebody typed, such as "2026-11-24 10:05", in the time zone of the browser; NaN if it is none. */
export function parseTime(text: string): number {
  const match = written.exec(text.trim());
  if (!match) return Date.parse(text);
  const [year, month, day, hour, minute] = match.slice(1).map((part) => Number(part ?? 0)) as [number, number, number, number, number];
  const date = new Date(year, month - 1, day, hour, minute);
  // The constructor turns February 30 into March 2.
  return date.getMonth() === month - 1 && date.getDate() === day && hour < 24 && minute < 60 ? date.getTime() : Number.NaN;
}

/** Returns why a text is not a time; null if it is one. */
export const readTime = (text: string): string | null => (Number.isNaN(parseTime(text)) ? 'Write a time such as 2026-11-24 10:05.' : null);

/** Returns a time that somebody typed as the API reads it; the text itself if it is no time. */
export function zoned(text: string): string {
  const ms = parseTime(text);
  return Number.isNaN(ms) ? text : new Date(ms).toISOString();
}

/** Writes a time of the API as somebody would type it, without its seconds. parseTime reads it. */
export function writeTime(at: string): string {
  const date = new Date(at);
  const two = (n: number): string => String(n).padStart(2, '0');
  const day = [date.getFullYear(), two(date.getMonth() + 1), two(date.getDate())].join('-');
  return `${day} ${two(date.getHours())}:${two(date.getMinutes())}`;
}

/** The spans of time until now in which a list can be searched, by their hours. */
export const spans = [
  ['', 'Any time'],
  ['1', 'Last hour'],
  ['24', 'Last 24 hours'],
  ['168', 'Last 7 days'],
] as const;

/** The spans, and calendar days. */
export const periods = [...spans, ['today', 'Today'], ['yesterday', 'Yesterday']] as const;

/** The bounds of a period, as the API reads them. */
export interface Period {
  since?: string;
  before?: string;
}

/** Returns the bounds of one of the periods. Days are those of the time zone of the browser. */
export function periodOf(within: string | undefined, now: number): Period {
  const midnight = (daysAgo: number): string => {
    const day = new Date(now);
    return new Date(day.getFullYear(), day.getMonth(), day.getDate() - daysAgo).toISOString();
  };
  if (within === 'today') return { since: midnight(0) };
  if (within === 'yesterday') return { since: midnight(1), before: midnight(0) };
  return Number(within) > 0 ? { since: new Date(now - Number(within) * 3_600_000).toISOString() } : {};
}
