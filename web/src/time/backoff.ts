const first = 500;
const last = 5_000;
const growth = 1.6;

/**
 * Returns the delay in milliseconds before attempt n (attempt 0 has none). Up to half of
 * it is random, so that the pages of one room do not all reconnect at the same moment.
 */
export function backoff(attempt: number, random: () => number = Math.random): number {
  if (attempt <= 0) return 0;
  const full = Math.min(last, first * growth ** (attempt - 1));
  return Math.round(full * (0.5 + random() / 2));
}
