import { describe, expect, test } from 'vitest';
import { cameraRatios, fitGrid, fixedRatio, tileCapacity } from './grid';
import { orderByLastSpoken, orderForStage, shareTiles, speakerFirst } from './stageOrder';

describe('the order on the stage', () => {
  const never = new Map<string, number>();
  const noSpeakers = new Set<string>();

  test('does not change while everybody is visible', () => {
    const before = ['a', 'b', 'c'];
    expect(orderForStage(before, ['a', 'b', 'c'], 5, new Map([['c', 9]]), new Set(['c']))).toBe(before);
    expect(orderForStage(before, ['c', 'b', 'a', 'd'], 5, never, noSpeakers)).toEqual(['a', 'b', 'c', 'd']);
    expect(orderForStage(before, ['a', 'c'], 5, never, noSpeakers)).toEqual(['a', 'c']);
  });

  test('swaps a hidden speaker with the person who has been silent longest', () => {
    const spokeAt = new Map([
      ['a', 40],
      ['b', 30],
      ['c', 10],
      ['d', 20],
    ]);
    const before = ['a', 'b', 'c', 'd', 'e', 'f'];
    expect(orderForStage(before, before, 4, spokeAt, new Set(['f']))).toEqual(['a', 'b', 'f', 'd', 'e', 'c']);
  });

  test('moves nobody who speaks', () => {
    const before = ['a', 'b', 'c'];
    expect(orderForStage(before, before, 2, never, new Set(['a', 'b', 'c']))).toBe(before);
  });
});

test('people are sorted by their last speech, and silent people keep their order', () => {
  const spokeAt = new Map([
    ['c', 10],
    ['e', 30],
  ]);
  expect(orderByLastSpoken(['b', 'c', 'd', 'e'], spokeAt)).toEqual(['e', 'c', 'b', 'd']);
});

test('the active speaker is the first in a strip', () => {
  expect(speakerFirst(['a', 'b', 'c'], (person) => person === 'c')).toEqual(['c', 'a', 'b']);
  expect(speakerFirst(['a', 'b', 'c'], () => false)).toEqual(['a', 'b', 'c']);
});

test.each([
  { others: 3, you: true, capacity: 4, shown: 3, shownYou: true },
  { others: 4, you: true, capacity: 4, shown: 2, shownYou: true },
  // The others come first where there is little space.
  { others: 3, you: true, capacity: 3, shown: 2, shownYou: false },
  { others: 2, you: true, capacity: 2, shown: 1, shownYou: false },
  { others: 2, you: true, capacity: 1, shown: 1, shownYou: false },
  { others: 5, you: false, capacity: 4, shown: 3, shownYou: false },
  { others: 0, you: true, capacity: 1, shown: 0, shownYou: true },
])('$others others share $capacity tiles', ({ others, you, capacity, shown, shownYou }) => {
  expect(shareTiles(others, you, capacity)).toEqual({ others: shown, you: shownYou });
});

describe('the grid', () => {
  test('fits a wide and a high space', () => {
    const ratio = fixedRatio(4 / 3);
    expect(fitGrid(2, { width: 1000, height: 500 }, ratio, 8).columns).toBe(2);
    expect(fitGrid(2, { width: 400, height: 800 }, ratio, 8).columns).toBe(1);
    expect(fitGrid(1, { width: 400, height: 300 }, ratio, 8)).toEqual({ columns: 1, width: 400, height: 300 });
  });

  test.each([
    { name: 'nine people on a desktop', count: 9, space: { width: 1264, height: 716 }, min: 96_000 },
    { name: 'four people on a desktop', count: 4, space: { width: 1264, height: 716 }, min: 215_000 },
    { name: 'five people on a phone', count: 5, space: { width: 374, height: 690 }, min: 36_000 },
    { name: 'four people on a phone', count: 4, space: { width: 374, height: 690 }, min: 44_000 },
  ])('gives cameras the ratio with the largest tiles: $name', ({ count, space, min }) => {
    const { width, height } = fitGrid(count, space, cameraRatios, 8);
    expect(width * height).toBeGreaterThanOrEqual(min);
    expect(width / height).toBeGreaterThan(0.74);
    expect(width / height).toBeLessThan(1.8);
  });

  test('prefers wide tiles of nearly the same area', () => {
    // Side by side they would be upright, and a little larger.
    expect(fitGrid(2, { width: 808, height: 808 }, cameraRatios, 8).columns).toBe(1);
  });

  test.each([fixedRatio(0.8), cameraRatios])('never overflows: $min to $max', (ratios) => {
    for (let count = 1; count <= 60; count++) {
      const { columns, width, height } = fitGrid(count, { width: 800, height: 600 }, ratios, 12);
      expect(columns * width + (columns - 1) * 12).toBeLessThanOrEqual(800);
      const rows = Math.ceil(count / columns);
      expect(rows * height + (rows - 1) * 12).toBeLessThanOrEqual(600);
    }
  });

  test('always fits one tile', () => {
    expect(tileCapacity({ width: 0, height: 0 }, 1, 8, 100)).toBe(1);
    expect(tileCapacity({ width: 320, height: 212 }, 1, 8, 100)).toBe(6);
  });
});
