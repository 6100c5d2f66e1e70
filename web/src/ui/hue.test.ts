import { expect, test } from 'vitest';
import { hueOf } from './hue';

test('people have one of eight hues, which are about equally frequent', () => {
  const counts = new Map<number, number>();
  for (let i = 0; i < 800; i++) counts.set(hueOf(`seat-${i}`), (counts.get(hueOf(`seat-${i}`)) ?? 0) + 1);
  expect([...counts.keys()].sort()).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
  expect(Math.min(...counts.values())).toBeGreaterThan(50);
  expect(hueOf('')).toBe(0);
});
