import { describe, expect, test } from 'vitest';
import { endWarningAt } from './endWarning';

describe('the warning about the end of the room', () => {
  test('is shown at five minutes and at one minute', () => {
    expect(endWarningAt(300_001, null)).toBeNull();
    const five = endWarningAt(300_000, null);
    expect(five).toEqual({ level: 5, minutes: 5 });
    expect(endWarningAt(200_000, five)).toBe(five);
    expect(endWarningAt(60_000, five)).toEqual({ level: 1, minutes: 1 });
  });

  test('has the remaining minutes for a visitor who joins late', () => {
    expect(endWarningAt(170_000, null)).toEqual({ level: 5, minutes: 3 });
    expect(endWarningAt(-5_000, null)).toEqual({ level: 1, minutes: 1 });
  });

  test('disappears when the time is extended', () => {
    expect(endWarningAt(900_000, { level: 1, minutes: 1 })).toBeNull();
  });
});
