const number = new Intl.NumberFormat('en');

export const formatNumber = (n: number): string => number.format(n);

const dateTime = new Intl.DateTimeFormat('en', {
  month: 'short',
  day: 'numeric',
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
  hourCycle: 'h23',
});
const dateTimeYear = new Intl.DateTimeFormat('en', {
  year: 'numeric',
  month: 'short',
  day: 'numeric',
  hour: '2-digit',
  minute: '2-digit',
  hourCycle: 'h23',
});

/** Formats a time in the time zone of the browser: with seconds, or with the year if it is not this one. */
export function formatTime(ms: number, now: number = Date.now()): string {
  return (new Date(ms).getFullYear() === new Date(now).getFullYear() ? dateTime : dateTimeYear).format(ms);
}

/** Formats a time as in the API, for the people who compare both. */
export const formatUTC = (ms: number): string => `${new Date(ms).toISOString().replace('T', ' ').replace('Z', '')} UTC`;

const relative = new Intl.RelativeTimeFormat('en', { numeric: 'always' });
const units = [
  ['year', 31_536_000],
  ['month', 2_592_000],
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
  ['second', 1],
] as const;

/** Formats the distance of a time in its largest unit: "3 hours ago", "in 2 days". */
export function formatAgo(ms: number, now: number = Date.now()): string {
  const seconds = Math.trunc((ms - now) / 1000);
  if (Math.abs(seconds) < 1) return 'now';
  const [unit, size] = units.find(([, size]) => Math.abs(seconds) >= size) ?? ['second', 1];
  return relative.format(Math.trunc(seconds / size), unit);
}

/** Formats a duration: milliseconds below a second, and otherwise its two largest units. */
export function formatDuration(ms: number): string {
  if (ms < 1) return `${Math.round(ms * 100) / 100} ms`;
  if (ms < 1000) return `${Math.round(ms * 10) / 10} ms`;
  const seconds = Math.floor(ms / 1000);
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return seconds % 60 ? `${minutes} min ${seconds % 60} s` : `${minutes} min`;
  const hours = Math.floor(minutes / 60);
  if (hours < 48) return minutes % 60 ? `${hours} h ${minutes % 60} min` : `${hours} h`;
  return `${Math.floor(hours / 24)} days`;
}

/** Formats a number of things: "1 room", "1,200 rooms". */
export const formatCount = (n: number, one: string, many = `${one}s`): string => `${formatNumber(n)} ${n === 1 ? one : many}`;

/** Shortens an ID to its first and last characters. The first ones of our IDs are their time, and so alike. */
export const shortenID = (id: string): string => (id.length > 14 ? `${id.slice(0, 4)}…${id.slice(-8)}` : id);

/** Returns the name of the time zone in which times are shown. */
export function timeZoneName(): string {
  const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
  const offset = new Intl.DateTimeFormat('en', { timeZoneName: 'shortOffset' })
    .formatToParts()
    .find(({ type }) => type === 'timeZoneName')?.value;
  return offset && offset !== zone && !(zone === 'UTC' && offset === 'GMT') ? `${zone} (${offset})` : zone;
}

/**
 * Formats a version for a narrow place. A build without a tag has a pseudo-version of Go
 * (https://go.dev/ref/mod#pseudo-versions), of which this returns the commit.
 */
export function formatVersion(version: string): string {
  const commit = /[-.](?:0\.)?\d{14}-([0-9a-f]{7})[0-9a-f]{5}(\+dirty)?$/.exec(version);
  return commit ? `commit ${commit[1]}${commit[2] ? ', changed' : ''}` : `version ${version}`;
}

/** Returns a text as a person reads it: a page shows several spaces as one, and a letter with an accent has two forms. */
export const asRead = (text: string): string => text.normalize('NFC').trim().replace(/\s+/g, ' ');
