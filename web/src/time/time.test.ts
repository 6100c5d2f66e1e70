import { describe, expect, test } from 'vitest';
import { setLanguage } from '../messages';
import { ar } from '../messages/ar';
import { de } from '../messages/de';
import { en } from '../messages/en';
import { backoff } from './backoff';
import { formatDateTime, formatTimeOrDate } from './dateTime';
import { formatDuration } from './duration';
import { formatMinutesSeconds, splitRemaining } from './remaining';
import { ServerClock } from './serverClock';

describe('the backoff', () => {
  test('starts at zero, then half a second, and ends at five seconds', () => {
    const most = [0, 1, 2, 3, 4, 5, 6, 7, 50].map((attempt) => backoff(attempt, () => 1));
    expect(most).toEqual([0, 500, 800, 1280, 2048, 3277, 5000, 5000, 5000]);
  });

  test('is random within the second half of the delay', () => {
    for (let attempt = 1; attempt < 10; attempt++) {
      expect(Math.abs(backoff(attempt, () => 0) - backoff(attempt, () => 1) / 2)).toBeLessThanOrEqual(1);
    }
  });
});

describe('a duration', () => {
  test.each([
    [59_000, 'less than a minute'],
    [60_000, '1 minute'],
    [24 * 60_000 + 59_000, '24 minutes'],
    [60 * 60_000, '1 hour'],
    [84 * 60_000, '1 hour 24 minutes'],
    [121 * 60_000, '2 hours 1 minute'],
  ])('%i ms', (ms, words) => expect(formatDuration(ms)).toBe(words));
});

describe('the server’s clock', () => {
  test('is right although the clock of the device is wrong', () => {
    let local = 1_000_000;
    const clock = new ServerClock(() => local);
    expect(clock.now()).toBe(1_000_000);
    clock.sync('2026-01-01T00:00:00Z', local - 200, local);
    local += 5_000;
    expect(clock.now()).toBe(Date.UTC(2026, 0, 1, 0, 0, 5, 100));
    clock.sync('soon', local, local);
    expect(clock.now()).toBe(Date.UTC(2026, 0, 1, 0, 0, 5, 100));
  });
});

describe('the remaining time', () => {
  test.each([
    [3 * 86_400_000 + 4 * 3_600_000 + 5 * 60_000 + 6_000, '3 days 4 hours 5 minutes'],
    [4 * 3_600_000 + 5 * 60_000 + 6_000, '4 hours 5 minutes 6 seconds'],
    [3_600_000, '1 hours 0 minutes 0 seconds'],
    [61_000, '1 minutes 1 seconds'],
    [60_000, '1 minutes 0 seconds'],
    [59_001, '1 minutes 0 seconds'],
    [900, '1 seconds'],
    [0, '0 seconds'],
    [-5_000, '0 seconds'],
  ])('%i ms: %s', (ms, words) =>
    expect(
      splitRemaining(ms)
        .map(({ unit, n }) => `${n} ${unit}`)
        .join(' '),
    ).toBe(words),
  );

  test('is formatted as minutes and seconds', () => {
    expect([299_001, 61_000, 9_000, -1].map(formatMinutesSeconds)).toEqual(['5:00', '1:01', '0:09', '0:00']);
  });
});

test('a date has the visitor’s time zone with its name', () => {
  const words = formatDateTime(Date.UTC(2027, 0, 31, 8, 30), 'Europe/Berlin');
  expect(words).toMatch(/Sunday, January 31, 2027/);
  expect(words).toMatch(/9:30/);
  expect(words).toMatch(/Central European Standard Time$/);
});

test('a date today is formatted as the time of day', () => {
  const noon = new Date(2027, 0, 31, 12).getTime();
  expect(formatTimeOrDate(noon, noon + 3_600_000)).toMatch(/^12:00(\sPM)?$/); // depends on the clock of the system
  expect(formatTimeOrDate(noon, noon + 24 * 3_600_000)).toMatch(/^Sunday, January 31, 2027/);
});

test('dates and times are formatted in the current language', () => {
  setLanguage('de', de, 'de-CH');
  expect(formatDateTime(Date.UTC(2027, 0, 31, 8, 30), 'Europe/Berlin')).toMatch(
    /^Sonntag, 31\. Januar 2027.*Mitteleuropäische Normalzeit$/,
  );
  setLanguage('ar', ar, 'ar-SA');
  // The Gregorian calendar instead of the region's own, with the digits of the region.
  expect(formatDateTime(Date.UTC(2027, 0, 31, 8, 30), 'Europe/Berlin')).toMatch(/٣١ يناير ٢٠٢٧/);
  expect(formatMinutesSeconds(61_000)).toBe('١:٠١');
  setLanguage('en', en);
});
