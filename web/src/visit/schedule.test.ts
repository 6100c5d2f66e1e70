import { describe, expect, test } from 'vitest';
import { preview } from './fixtures';
import { admissionTimeOf, isTooEarlyForDevices, pollDelayBeforeStart, startOf } from './schedule';

const start = Date.parse('2026-01-01T10:00:00Z');
const room = preview({
  room_type: 'video',
  state: 'scheduled',
  start_time: '2026-01-01T10:00:00Z',
  opens_at: '2026-01-01T09:50:00Z',
  you: { role: 'host', name: 'Amina', returning: false },
});

test('a host may join before the start', () => {
  expect(startOf(room)).toBe(start);
  expect(admissionTimeOf(room)).toBe(start - 10 * 60_000);
});

test('an open room has no admission time', () => {
  for (const state of ['open', 'active'] as const) expect(admissionTimeOf({ ...room, state })).toBeNull();
});

test('the devices open 15 minutes before the start', () => {
  expect(isTooEarlyForDevices(room, start - 15 * 60_000 - 1)).toBe(true);
  expect(isTooEarlyForDevices(room, start - 15 * 60_000)).toBe(false);
  expect(isTooEarlyForDevices({ ...room, state: 'open' }, start - 24 * 3_600_000)).toBe(false);
});

describe('a waiting page', () => {
  const randoms = [0, 0.25, 0.5, 0.75, 0.999];

  test.each([
    [24 * 3_600_000, 24_000, 36_000],
    [10 * 60_000, 8_000, 12_000],
    [30_000, 4_000, 6_000],
  ])('%i ms before the start asks again in %i to %i ms', (left, least, most) => {
    for (const random of randoms) {
      const wait = pollDelayBeforeStart(start, start - left, () => random);
      expect(wait).toBeGreaterThanOrEqual(least);
      expect(wait).toBeLessThanOrEqual(most);
    }
  });

  test('polls within two seconds of the start, at a random moment', () => {
    for (const left of [3_000, 1_000, 1]) {
      const asked = randoms.map((random) => pollDelayBeforeStart(start, start - left, () => random) - left);
      expect(Math.min(...asked)).toBeGreaterThan(0);
      expect(Math.max(...asked)).toBeLessThan(1_500);
      expect(new Set(asked).size).toBe(randoms.length);
    }
  });

  test('always pauses between polls after the start', () => {
    for (const random of randoms) expect(pollDelayBeforeStart(start, start + 5_000, () => random)).toBeGreaterThanOrEqual(400);
  });
});
