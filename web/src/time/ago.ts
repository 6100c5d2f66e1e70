import { locale } from '../messages';

/** Formats how long ago something was: in seconds, counted in tens so that the text is calm, or in minutes. */
export function formatAgo(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1000));
  const format = new Intl.RelativeTimeFormat(locale(), { numeric: 'auto' });
  if (seconds < 10) return format.format(0, 'second');
  return seconds < 60 ? format.format(-Math.floor(seconds / 10) * 10, 'second') : format.format(-Math.floor(seconds / 60), 'minute');
}
