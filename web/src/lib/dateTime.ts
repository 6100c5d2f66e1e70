import { locale } from '../messages';

/** Hours, by the viewer's clock: 12 or 24 of them. */
const hourCycle = (): Intl.DateTimeFormatOptions => {
  const { hourCycle } = new Intl.DateTimeFormat(undefined, { hour: 'numeric' }).resolvedOptions();
  return hourCycle ? { hourCycle } : {};
};

/** The time of day. */
export const formatTime = (ms: number): string =>
  new Intl.DateTimeFormat(locale(), { hour: 'numeric', minute: '2-digit', ...hourCycle() }).format(ms);

/**
 * A moment as one says it, in the viewer's own time zone, which is named. The
 * words are the page's, the clock (12 or 24 hours) is the viewer's.
 */
export function formatDateTime(ms: number, timeZone?: string): string {
  return new Intl.DateTimeFormat(locale(), {
    // Invitations and calendars are written in it everywhere.
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

/** A moment near to now: of today, the time of day is enough. */
export function formatTimeOrDate(ms: number, now: number): string {
  return new Date(ms).toDateString() === new Date(now).toDateString() ? formatTime(ms) : formatDateTime(ms);
}
