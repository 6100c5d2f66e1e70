const written = /^([12]\d{3})-(\d{2})-(\d{2})(?:[ T](\d{1,2}):(\d{2})(?::(\d{2})(?:\.(\d+))?)?(Z|[+-]\d{2}:\d{2})?)?$/i;

/**
 * Reads a time that somebody typed, such as "2026-11-24 10:05", in the time zone of the browser, or in its own; NaN if it is none.
 * Date.parse would guess a date from every other text, for example 11 May from 05.11.2026.
 */
export function parseTime(text: string): number {
  const match = written.exec(text.trim());
  if (!match) return Number.NaN;
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0] = match.slice(1, 7).map((part) => Number(part ?? 0));
  const [fraction = '0', zone] = match.slice(7);
  const date = new Date(Date.UTC(year, month - 1, day));
  // The constructor turns February 30 into March 2.
  const exists = date.getUTCMonth() === month - 1 && date.getUTCDate() === day && hour < 24 && minute < 60 && second < 60;
  if (!exists) return Number.NaN;
  const parts = [year, month - 1, day, hour, minute, second, Math.floor(Number(`0.${fraction}`) * 1000)] as const;
  return zone ? Date.UTC(...parts) + Date.parse(`1970-01-01T00:00:00${zone.toUpperCase()}`) : new Date(...parts).getTime();
}

/** Returns why a text is not a time; null if it is one. */
export const readTime = (text: string): string | null => (Number.isNaN(parseTime(text)) ? 'Write a time such as 2026-11-24 10:05.' : null);

/** Returns a time that somebody typed as the API reads it; the text itself if it is no time. */
export function zoned(text: string): string {
  const ms = parseTime(text);
  return Number.isNaN(ms) ? text : new Date(ms).toISOString();
}

/** Writes a time of the API as somebody would type it; the text itself if it is no time. parseTime reads it. */
export function writeTime(at: string): string {
  const ms = parseTime(at);
  if (Number.isNaN(ms)) return at;
  const date = new Date(ms);
  const two = (n: number): string => String(n).padStart(2, '0');
  const day = [date.getFullYear(), two(date.getMonth() + 1), two(date.getDate())].join('-');
  const seconds = date.getSeconds() > 0 ? `:${two(date.getSeconds())}` : '';
  return `${day} ${two(date.getHours())}:${two(date.getMinutes())}${seconds}`;
}

/** The spans of time until now in which a list can be searched, by their hours. */
export const spans = [
  ['', 'Any time'],
  ['1', 'Last hour'],
  ['24', 'Last 24 hours'],
  ['168', 'Last 7 days'],
] as const;

const spanStepMs = 300_000;

/**
 * Returns the time from which a span counts back. It changes every five minutes, so that a list that stays open follows the time, and
 * its address is rarely another one. It is never later than now, so that a span is not too short.
 */
export const spanEnd = (now: number): number => now - (now % spanStepMs);

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
