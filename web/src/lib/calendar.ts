export interface CalendarEvent {
  uid: string;
  url: string;
  title: string;
  start: number;
  /** When the file is made. */
  now: number;
}

/**
 * A calendar file (RFC 5545) with one appointment. Rooms have no planned end:
 * an hour is kept free, because many calendars hide what takes no time.
 */
export function calendarFile({ uid, url, title, start, now }: CalendarEvent): string {
  const lines = [
    'BEGIN:VCALENDAR',
    'VERSION:2.0',
    'PRODID:-//Parley//Room page//EN',
    'BEGIN:VEVENT',
    `UID:${uid}`,
    `DTSTAMP:${formatUtc(now)}`,
    `DTSTART:${formatUtc(start)}`,
    'DURATION:PT1H',
    `SUMMARY:${escapeText(title)}`,
    // Many calendars show only the place.
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

/** Lines have at most 75 bytes; those that follow begin with a space. No character is torn apart. */
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
