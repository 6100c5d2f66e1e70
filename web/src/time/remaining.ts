import { formatNumber, locale } from '../messages';

const units = [
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
  ['second', 1],
] as const;

/**
 * Formats a duration in its largest unit and the next one, in the forms that the language
 * has for each number: "1 day 2 hours". A second unit of zero is left out.
 */
export function formatRemaining(ms: number): string {
  let rest = Math.max(0, Math.ceil(ms / 1000));
  const parts = units.map(([unit, seconds]) => {
    const n = Math.floor(rest / seconds);
    rest -= n * seconds;
    return { unit, n };
  });
  const first = parts.findIndex(({ n }) => n > 0);
  const shown = first < 0 ? parts.slice(-1) : parts.slice(first, first + 2).filter(({ n }) => n > 0);
  const words = shown.map(({ unit, n }) => new Intl.NumberFormat(locale(), { style: 'unit', unit, unitDisplay: 'long' }).format(n));
  return new Intl.ListFormat(locale(), { type: 'unit', style: 'narrow' }).format(words);
}

/** Formats minutes and seconds as a clock does. */
export function formatMinutesSeconds(ms: number): string {
  const seconds = Math.max(0, Math.ceil(ms / 1000));
  const rest = seconds % 60;
  return `${formatNumber(Math.floor(seconds / 60))}:${rest < 10 ? formatNumber(0) : ''}${formatNumber(rest)}`;
}
