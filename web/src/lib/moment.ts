import { locale } from '../messages';

/**
 * A moment as one says it, in the viewer's own time zone, which is named. The
 * words are the page's, the clock (12 or 24 hours) is the viewer's.
 */
export function moment(ms: number, timeZone?: string): string {
  const { hourCycle } = new Intl.DateTimeFormat(undefined, { hour: 'numeric' }).resolvedOptions();
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
    ...(hourCycle && { hourCycle }),
    ...(timeZone && { timeZone }),
  }).format(ms);
}
