import { expect, test } from 'vitest';
import { displayMs } from './toastTime';

test('a toast is shown for six seconds, and a long announcement for as long as it takes to read', () => {
  expect(displayMs(0)).toBe(6_000);
  expect(displayMs(75)).toBe(6_000);
  expect(displayMs(500)).toBe(40_000);
});
