import { describe, expect, test } from 'vitest';
import { calendarFile } from './calendar';

describe('a calendar file', () => {
  const file = calendarFile({
    uid: '0197@meet.example.org',
    url: `https://meet.example.org/r/0197#t=${'x'.repeat(80)}`,
    title: 'Größe, Farbe; Preis\\Rabatt – eine Besprechung mit einem sehr langen Titel 😀😀😀😀😀',
    start: Date.UTC(2027, 0, 31, 8, 30),
    now: Date.UTC(2026, 11, 24, 10, 0, 5, 250),
  });
  const lines = file.replace(/\r\n /g, '').split('\r\n');

  test('has what RFC 5545 asks for, in UTC', () => {
    expect(lines[0]).toBe('BEGIN:VCALENDAR');
    expect(lines).toEqual(
      expect.arrayContaining([
        'VERSION:2.0',
        'UID:0197@meet.example.org',
        'DTSTAMP:20261224T100005Z',
        'LAST-MODIFIED:20261224T100005Z',
        'SEQUENCE:30880805',
        'DTSTART:20270131T083000Z',
        'DURATION:PT1H',
        `URL:https://meet.example.org/r/0197#t=${'x'.repeat(80)}`,
        'SUMMARY:Größe\\, Farbe\\; Preis\\\\Rabatt – eine Besprechung mit einem sehr langen Titel 😀😀😀😀😀',
      ]),
    );
    expect(file.endsWith('END:VCALENDAR\r\n')).toBe(true);
  });

  test('has no line over 75 bytes, no split character and no bare line end', () => {
    const bytes = new TextEncoder();
    for (const line of file.split('\r\n')) {
      expect(bytes.encode(line).length).toBeLessThanOrEqual(75);
      expect(line).not.toMatch(/[\r\n]|[\uD800-\uDBFF]$/);
    }
  });

  test('of a moved room has a higher number, so that a calendar takes it over', () => {
    const before = Date.UTC(2026, 11, 24, 10, 0, 0);
    const sequence = (now: number): number => {
      const saved = calendarFile({ uid: '1@x', url: 'https://x', title: 'T', start: now, now });
      return Number(/^SEQUENCE:(\d+)\r$/m.exec(saved)?.[1]);
    };
    expect(sequence(before + 1_000)).toBeGreaterThan(sequence(before));
    // RFC 5545 allows 31 bits.
    expect(sequence(Date.UTC(2090, 0, 1))).toBeLessThan(2 ** 31);
    // A visitor whose clock is far behind gets a valid file, too.
    expect(sequence(0)).toBe(0);
  });
});
