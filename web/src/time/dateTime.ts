import { locale } from '../messages';

/** Uses the 12-hour or 24-hour clock of the visitor's system. */
const hourCycle = (): Intl.DateTimeFormatOptions => {
  const { hourCycle } = new Intl.DateTimeFormat(undefined, { hour: 'numeric' }).resolvedOptions();
  return hourCycle ? { hourCycle } : {};
};

const timeOfDay = (): Intl.DateTimeFormatOptions => ({ hour: 'numeric', minute: '2-digit', ...hourCycle() });

/** Formats the time of day. */
export const formatTime = (ms: number): string => new Intl.DateTimeFormat(locale(), timeOfDay()).format(ms);

/**
 * Formats a date and time as people say it: "Tomorrow, 10:00 (CET)", the weekday within
 * six days, and otherwise the date. The words are in the language of the page; the clock
 * (12 or 24 hours) is that of the system.
 */
export function formatWhen(ms: number, now: number, timeZone?: string): string {
  const zone = timeZone ? { timeZone } : {};
  const time = new Intl.DateTimeFormat(locale(), { ...timeOfDay(), ...zone }).format(ms);
  return `${capitalize(formatDay(ms, now, zone))}, ${time} (${zoneName(ms, zone)})`;
}

function formatDay(ms: number, now: number, zone: { timeZone?: string }): string {
  const days = dayNumber(ms, zone) - dayNumber(now, zone);
  if (Math.abs(days) <= 1) return new Intl.RelativeTimeFormat(locale(), { numeric: 'auto' }).format(days, 'day');
  const date = (options: Intl.DateTimeFormatOptions): string =>
    // Invitations and calendars use the Gregorian calendar in every region.
    new Intl.DateTimeFormat(locale(), { calendar: 'gregory', weekday: 'long', ...options, ...zone }).format(ms);
  if (days > 1 && days < 7) return date({});
  const sameYear = yearOf(ms, zone) === yearOf(now, zone);
  return date({ weekday: 'short', day: 'numeric', month: 'long', ...(!sameYear && { year: 'numeric' }) });
}

/** Counts the days of a time zone, so that the difference of two numbers is the days between them. */
function dayNumber(ms: number, zone: { timeZone?: string }): number {
  const [year, month, day] = ['year', 'month', 'day'].map((field) => partOf(ms, { [field]: 'numeric' }, zone));
  return Date.UTC(year ?? 0, (month ?? 1) - 1, day ?? 1) / 86_400_000;
}

const yearOf = (ms: number, zone: { timeZone?: string }): number => partOf(ms, { year: 'numeric' }, zone);

const partOf = (ms: number, options: Intl.DateTimeFormatOptions, zone: { timeZone?: string }): number =>
  Number(new Intl.DateTimeFormat('en-US', { ...options, ...zone }).format(ms));

function zoneName(ms: number, zone: { timeZone?: string }): string {
  const parts = new Intl.DateTimeFormat(locale(), { hour: 'numeric', timeZoneName: 'short', ...zone }).formatToParts(ms);
  return parts.find(({ type }) => type === 'timeZoneName')?.value ?? '';
}

/** Names of days are written small in most languages, and this one begins a line. */
function capitalize(text: string): string {
  const [first = '', ...rest] = Array.from(text);
  return first.toLocaleUpperCase(locale()) + rest.join('');
}
