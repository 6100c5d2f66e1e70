import { expect, test } from 'vitest';
import { isSwipe } from './swipe';

test.each([
  ['to the left', { x: -90, y: 10, at: 200 }, true],
  ['to the right', { x: 60, y: -20, at: 600 }, true],
  ['too short', { x: 59, y: 0, at: 100 }, false],
  ['too slow', { x: 200, y: 0, at: 601 }, false],
  ['upwards', { x: 70, y: 90, at: 100 }, false],
])('a finger swipes sideways: %s', (_, end, swiped) => expect(isSwipe({ x: 0, y: 0, at: 0 }, end)).toBe(swiped));
