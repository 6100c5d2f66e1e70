import { describe, expect, test } from 'vitest';
import { setLanguage } from '../messages';
import { ar } from '../messages/ar';
import { de } from '../messages/de';
import { en } from '../messages/en';
import { es } from '../messages/es';
import { fr } from '../messages/fr';
import { tr } from '../messages/tr';
import { backoff } from './backoff';
import { formatWhen } from './dateTime';
import { formatDuration } from './duration';
import { formatMinutesSeconds, formatRemaining } from './remaining';
import { ServerClock } from './serverClock';

const noBreakSpace = '\u00A0';

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
    [3 * 86_400_000 + 4 * 3_600_000 + 5 * 60_000 + 6_000, '3 days 4 hours'],
    [86_400_000, '1 day'],
    [4 * 3_600_000 + 5 * 60_000 + 6_000, '4 hours 5 minutes'],
    [3_600_000, '1 hour'],
    [329_000, '5 minutes 29 seconds'],
    [299_990, '5 minutes'],
    [59_001, '1 minute'],
    [900, '1 second'],
    [0, '0 seconds'],
    [-5_000, '0 seconds'],
  ])('%i ms: %s', (ms, words) => expect(formatRemaining(ms)).toBe(words));

  test('is formatted as minutes and seconds', () => {
    expect([299_001, 61_000, 9_000, -1].map(formatMinutesSeconds)).toEqual(['5:00', '1:01', '0:09', '0:00']);
  });
});

describe('the time of a start', () => {
  const now = Date.UTC(2027, 0, 29, 21, 0); // Friday, 22:00 in Berlin
  const at = (day: number, hour = 9): number => Date.UTC(2027, 0, day, hour, 30);
  const inBerlin = (ms: number): string => formatWhen(ms, now, 'Europe/Berlin').replace(/, \d+:.*/, '');

  test.each([
    [at(28), 'Yesterday'],
    [at(29), 'Today'],
    [at(29, 22), 'Today'],
    [at(29, 23), 'Tomorrow'], // midnight in Berlin is an hour before that in London
    [at(30), 'Tomorrow'],
    [at(31), 'Sunday'],
    [at(35), 'Thursday'],
    [at(36), 'Fri, February 5'],
    [at(-40), 'Sat, November 21, 2026'],
  ])('%i: %s', (ms, words) => expect(inBerlin(ms)).toBe(words));

  test('has the hour and the short name of the time zone', () => {
    expect(formatWhen(at(30), now, 'Europe/Berlin')).toMatch(/^Tomorrow, 10:30(\sAM)? \((GMT\+1|CET)\)$/); // depends on the clock of the system
    setLanguage('en', en, 'en-GB');
    expect(formatWhen(at(30), now, 'Europe/Berlin')).toMatch(/\(CET\)$/);
    setLanguage('en', en);
  });

  test.each([
    ['de', de, 'de-CH', /^Morgen, 10:30.* \(MEZ\)$/, /^Sonntag, /],
    ['fr', fr, 'fr', /^Demain, 10:30/, /^Dimanche, /],
    ['es', es, 'es', /^Mañana, 10:30/, /^Domingo, /],
    ['tr', tr, 'tr', /^Yarın, /, /^Pazar, /],
    // The Gregorian calendar instead of the region's own, with the digits of the region.
    ['ar', ar, 'ar-SA', /^غدًا, ١٠:٣٠/, /^الأحد, /],
  ] as const)('is in the words of %s', (language, messages, locale, tomorrow, sunday) => {
    setLanguage(language, messages, locale);
    expect(formatWhen(at(30), now, 'Europe/Berlin')).toMatch(tomorrow);
    expect(formatWhen(at(31), now, 'Europe/Berlin')).toMatch(sunday);
    setLanguage('en', en);
  });
});

test.each([
  ['de', de, '1 Tag, 2 Stunden', '5 Minuten, 29 Sekunden'],
  ['fr', fr, '1 jour 2 heures', '5 minutes 29 secondes'],
  ['es', es, '1 día 2 horas', '5 minutos 29 segundos'],
  ['tr', tr, '1 gün 2 saat', '5 dakika 29 saniye'],
] as const)('a duration is in the words of %s', (language, messages, days, minutes) => {
  setLanguage(language, messages);
  expect(formatRemaining(26 * 3_600_000).replaceAll(noBreakSpace, ' ')).toBe(days);
  expect(formatRemaining(329_000).replaceAll(noBreakSpace, ' ')).toBe(minutes);
  setLanguage('en', en);
});

test('Arabic says two with a word, and has the digits of the region', () => {
  setLanguage('ar', ar, 'ar-SA');
  expect(formatRemaining(2 * 86_400_000)).toBe('يومان');
  expect(formatMinutesSeconds(61_000)).toBe('١:٠١');
  setLanguage('en', en);
});
