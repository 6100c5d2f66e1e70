import { expect, test } from 'vitest';
import { parseTime, periodOf, periods, readTime, spanEnd, writeTime, zoned } from './times';

test.each([
  ['2026-11-24', new Date(2026, 10, 24).getTime()],
  ['2026-11-24 9:05', new Date(2026, 10, 24, 9, 5).getTime()],
  [' 2026-11-24T10:05 ', new Date(2026, 10, 24, 10, 5).getTime()],
  ['2026-11-24T10:05:00Z', Date.UTC(2026, 10, 24, 10, 5)],
  ['2026-11-24t10:05:00.25z', Date.UTC(2026, 10, 24, 10, 5, 0, 250)],
  ['2026-11-24 10:05:30+02:00', Date.UTC(2026, 10, 24, 8, 5, 30)],
  ['2026-11-24 10:05:30', new Date(2026, 10, 24, 10, 5, 30).getTime()],
  ['2026-11-24T10:05:00+25:00', Number.NaN],
  ['2026-02-30T10:05:00Z', Number.NaN],
  ['2026-02-30', Number.NaN],
  ['2026-11-24 24:00', Number.NaN],
  ['2026-11-24 10:05:60', Number.NaN],
  ['yesterday', Number.NaN],
  ['05.11.2026 10:05', Number.NaN],
  ['05/11/2026', Number.NaN],
  ['24 Nov 2026', Number.NaN],
  ['10', Number.NaN],
  ['2026', Number.NaN],
  ['room 5', Number.NaN],
  ['', Number.NaN],
])('%j is read', (text, ms) => expect(parseTime(text)).toBe(ms));

test('a text that is no time is explained', () => {
  expect(readTime('2026-11-24')).toBeNull();
  expect(readTime('soon')).toContain('2026-11-24 10:05');
  expect(zoned('soon')).toBe('soon');
  expect(zoned('2026-11-24T10:05:00Z')).toBe('2026-11-24T10:05:00.000Z');
});

test('a time that is written is read again', () => {
  const at = new Date(2026, 1, 3, 9, 5);
  expect(writeTime(at.toISOString())).toBe('2026-02-03 09:05');
  expect(parseTime(writeTime(at.toISOString()))).toBe(at.getTime());
  at.setSeconds(7);
  expect(writeTime(at.toISOString())).toBe('2026-02-03 09:05:07');
  expect(writeTime('soon')).toBe('soon');
});

test('a span ends at most five minutes ago, at the same time for five minutes', () => {
  const at = Date.UTC(2026, 1, 3, 9, 5);
  expect(spanEnd(at)).toBe(at);
  expect(spanEnd(at + 299_999)).toBe(at);
  expect(spanEnd(at + 300_000)).toBe(at + 300_000);
});

test('a period has the bounds that its name says', () => {
  const now = new Date(2026, 2, 1, 9, 5).getTime();
  const [yesterday, today] = [new Date(2026, 1, 28).toISOString(), new Date(2026, 2, 1).toISOString()];
  const want: Record<string, object> = {
    '': {},
    1: { since: new Date(2026, 2, 1, 8, 5).toISOString() },
    24: { since: new Date(2026, 1, 28, 9, 5).toISOString() },
    168: { since: new Date(now - 7 * 86_400_000).toISOString() },
    today: { since: today },
    yesterday: { since: yesterday, before: today },
  };
  for (const [name] of periods) expect(periodOf(name, now), name).toEqual(want[name]);
  expect(periodOf(undefined, now)).toEqual({});
  expect(periodOf('-1', now)).toEqual({});
});
