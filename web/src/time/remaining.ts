import { formatNumber } from '../messages';

const units = [
  ['days', 86_400],
  ['hours', 3_600],
  ['minutes', 60],
  ['seconds', 1],
] as const;

export type Unit = (typeof units)[number][0];

/** Splits a duration into at most three units, beginning with the largest that is not zero. */
export function splitRemaining(ms: number): { unit: Unit; n: number }[] {
  let rest = Math.max(0, Math.ceil(ms / 1000));
  const parts = units.map(([unit, seconds]) => {
    const n = Math.floor(rest / seconds);
    rest -= n * seconds;
    return { unit, n };
  });
  const first = parts.findIndex(({ n }) => n > 0);
  if (first < 0) return parts.slice(-1);
  return parts.slice(first, first + 3);
}

/** Formats minutes and seconds as a clock does. */
export function formatMinutesSeconds(ms: number): string {
  const seconds = Math.max(0, Math.ceil(ms / 1000));
  const rest = seconds % 60;
  return `${formatNumber(Math.floor(seconds / 60))}:${rest < 10 ? formatNumber(0) : ''}${formatNumber(rest)}`;
}
