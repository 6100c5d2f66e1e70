import type { Preview } from '../api/client';

/** When a scheduled room starts, by the server's clock; null for one that is open. */
export function startOf({ state, start_time }: Preview): number | null {
  return state === 'scheduled' && start_time ? Date.parse(start_time) : null;
}

/** When this visitor may come in, which for hosts is before the start; null when at once. */
export function admissionTimeOf(preview: Preview): number | null {
  const start = startOf(preview);
  return start === null || !preview.opens_at ? start : Date.parse(preview.opens_at);
}

const minute = 60_000;

/** How often a page that waits asks whether somebody has opened the room early. */
function pollIntervalAt(left: number): number {
  // Hosts may open it ten minutes before; longer before, only the organizer.
  if (left > 12 * minute) return 30_000;
  return left > minute ? 10_000 : 5_000;
}

/**
 * How long a page waits until it asks again. A whole class waits at the same
 * door: nobody asks on the second, and at the opening they spread over one.
 */
export function pollDelayBeforeStart(start: number, now: number, random: () => number): number {
  const left = start - now;
  if (left <= 0) return 400 + 400 * random();
  const delay = pollIntervalAt(left) * (0.8 + 0.4 * random());
  return delay < left ? delay : left + 50 + 1_000 * random();
}
