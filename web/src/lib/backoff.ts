const first = 500;
const last = 5_000;
const growth = 1.6;

/**
 * How long to wait before attempt n (0 is the first and does not wait), with
 * up to half of it random, so that a room full of pages does not knock at once.
 */
export function backoff(attempt: number, random: () => number = Math.random): number {
  if (attempt <= 0) return 0;
  const full = Math.min(last, first * growth ** (attempt - 1));
  return Math.round(full * (0.5 + random() / 2));
}
