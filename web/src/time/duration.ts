import { count, t } from '../messages';

/** Formats a duration in hours and minutes. */
export function formatDuration(ms: number): string {
  const minutes = Math.floor(ms / 60_000);
  if (minutes < 1) return t('span.moment');
  const hours = Math.floor(minutes / 60);
  const rest = minutes % 60;
  if (hours === 0) return count('span.minutes', minutes);
  if (rest === 0) return count('span.hours', hours);
  return t('span.both', { hours: count('span.hours', hours), minutes: count('span.minutes', rest) });
}
