export interface CalendarEvent {
  uid: string;
  url: string;
  title: string;
  start: number;
  /** The creation time of the file. */
  now: number;
}

/** The sequence numbers count seconds from here, because only the time of a file is known to grow. */
const sequenceEpoch = Date.UTC(2026, 0, 1);

/**
 * Returns a calendar file (RFC 5545) with one event. Rooms have no planned end, so that
 * the event takes one hour, because many calendars hide events without a duration.
 */
export function calendarFile({ uid, url, title, start, now }: CalendarEvent): string {
  const lines = [
    'BEGIN:VCALENDAR',
    'VERSION:2.0',
    'PRODID:-//Parley//Room page//EN',
    'BEGIN:VEVENT',
    `UID:${uid}`,
    `DTSTAMP:${formatUtc(now)}`,
    `LAST-MODIFIED:${formatUtc(now)}`,
    // A calendar takes over a file with a higher number, so that a moved room moves.
    `SEQUENCE:${Math.max(0, Math.floor((now - sequenceEpoch) / 1_000))}`,
    `DTSTART:${formatUtc(start)}`,
    'DURATION:PT1H',
    `SUMMARY:${escapeText(title)}`,
    // Many calendars show only the location.
    `LOCATION:${escapeText(url)}`,
    `URL:${url}`,
    'END:VEVENT',
    'END:VCALENDAR',
  ];
  return lines.map((line) => `${fold(line)}\r\n`).join('');
}

function formatUtc(ms: number): string {
  return new Date(ms).toISOString().replace(/[-:]|\.\d+/g, '');
}

function escapeText(value: string): string {
  return value.replace(/[\\;,]/g, '\\$&').replace(/\r\n?|\n/g, '\\n');
}

/** Folds a line at 75 bytes without splitting a character. Continuation lines begin with a space. */
function fold(line: string): string {
  const encoder = new TextEncoder();
  let folded = '';
  let bytes = 0;
  for (const character of line) {
    const size = encoder.encode(character).length;
    if (bytes + size > 75) {
      folded += '\r\n ';
      bytes = 1;
    }
    folded += character;
    bytes += size;
  }
  return folded;
}
