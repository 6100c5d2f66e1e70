import { describe, expect, test } from 'vitest';
import { endWarningAt } from './endWarning';

describe('the end of the room', () => {
  test('is warned of at five minutes and at one', () => {
    expect(endWarningAt(300_001, null)).toBeNull();
    const five = endWarningAt(300_000, null);
    expect(five).toEqual({ level: 5, minutes: 5 });
    expect(endWarningAt(200_000, five)).toBe(five);
    expect(endWarningAt(60_000, five)).toEqual({ level: 1, minutes: 1 });
  });

  test('is told to who comes late as it is', () => {
    expect(endWarningAt(170_000, null)).toEqual({ level: 5, minutes: 3 });
    expect(endWarningAt(-5_000, null)).toEqual({ level: 1, minutes: 1 });
  });

  test('is taken back when there is more time', () => {
    expect(endWarningAt(900_000, { level: 1, minutes: 1 })).toBeNull();
  });
});
