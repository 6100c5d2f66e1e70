import type { Preview } from '../api/client';

/** Returns the start of a scheduled room, by the server's clock; null for an open room. */
export function startOf({ state, start_time }: Preview): number | null {
  return state === 'scheduled' && start_time ? Date.parse(start_time) : null;
}

/** Returns when this visitor may join, which for hosts is before the start; null when the room is open. */
export function admissionTimeOf(preview: Preview): number | null {
  const start = startOf(preview);
  return start === null || !preview.opens_at ? start : Date.parse(preview.opens_at);
}

const minute = 60_000;

/** How long before the start of a scheduled room the page opens the devices by itself. */
const devicesOpenBefore = 15 * minute;

/** Reports whether it is too early to open the devices of this visitor, by the server's clock. */
export function isTooEarlyForDevices(preview: Preview, now: number): boolean {
  const start = startOf(preview);
  return start !== null && start - now > devicesOpenBefore;
}

/** Returns how often a waiting page checks whether the room was opened early. */
function pollIntervalAt(left: number): number {
  // Hosts may open it ten minutes before the start; earlier, only the organizer may.
  if (left > 12 * minute) return 30_000;
  return left > minute ? 10_000 : 5_000;
}

/**
 * Returns the delay until the next poll. It is random, so that the pages of a whole class
 * do not poll at the same moment when the room opens.
 */
export function pollDelayBeforeStart(start: number, now: number, random: () => number): number {
  const left = start - now;
  if (left <= 0) return 400 + 400 * random();
  const delay = pollIntervalAt(left) * (0.8 + 0.4 * random());
  return delay < left ? delay : left + 50 + 1_000 * random();
}
