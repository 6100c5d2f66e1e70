import { locale } from '../messages';

/** Uses the 12-hour or 24-hour clock of the visitor's system. */
const hourCycle = (): Intl.DateTimeFormatOptions => {
  const { hourCycle } = new Intl.DateTimeFormat(undefined, { hour: 'numeric' }).resolvedOptions();
  return hourCycle ? { hourCycle } : {};
};

/** Formats the time of day. */
export const formatTime = (ms: number): string =>
  new Intl.DateTimeFormat(locale(), { hour: 'numeric', minute: '2-digit', ...hourCycle() }).format(ms);

/**
 * Formats a date and time in the visitor's time zone, including its name. The words are in
 * the language of the page; the clock (12 or 24 hours) is that of the system.
 */
export function formatDateTime(ms: number, timeZone?: string): string {
  return new Intl.DateTimeFormat(locale(), {
    // Invitations and calendars use the Gregorian calendar in every region.
    calendar: 'gregory',
    weekday: 'long',
    day: 'numeric',
    month: 'long',
    year: 'numeric',
    hour: 'numeric',
    minute: '2-digit',
    timeZoneName: 'long',
    ...hourCycle(),
    ...(timeZone && { timeZone }),
  }).format(ms);
}

/** Formats only the time of day when it is today, otherwise the date and the time. */
export function formatTimeOrDate(ms: number, now: number): string {
  return new Date(ms).toDateString() === new Date(now).toDateString() ? formatTime(ms) : formatDateTime(ms);
}
