import { expect } from 'vitest';

/**
 * Prints how long something took that people wait for, in milliseconds. `make bench` sets GOALS, and then a time above
 * its goal fails. A test has no such limit, because a busy machine must not fail it.
 */
export function measured(what: string, took: number, goal: number): void {
  console.log(`${what}: ${Number.isFinite(took) ? text(took) : 'never'} (goal ${text(goal)})`);
  if (process.env.GOALS) expect(took, what).toBeLessThan(goal);
}

const text = (ms: number): string => (ms < 1_000 ? `${Math.round(ms)} ms` : `${(ms / 1_000).toFixed(1)} s`);
