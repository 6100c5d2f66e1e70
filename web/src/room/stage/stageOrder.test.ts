import { describe, expect, test } from 'vitest';
import { fitGrid, tileCapacity } from './grid';
import { orderByLastSpoken, orderForStage } from './stageOrder';

describe('the order on the stage', () => {
  const never = new Map<string, number>();
  const nobody = new Set<string>();

  test('does not change while everybody is visible', () => {
    const before = ['you', 'b', 'c'];
    expect(orderForStage(before, ['you', 'b', 'c'], 5, new Map([['c', 9]]), new Set(['c']))).toBe(before);
    expect(orderForStage(before, ['c', 'b', 'you', 'd'], 5, never, nobody)).toEqual(['you', 'b', 'c', 'd']);
    expect(orderForStage(before, ['you', 'c'], 5, never, nobody)).toEqual(['you', 'c']);
  });

  test('swaps a hidden speaker with the person who has been silent longest', () => {
    const spokeAt = new Map([
      ['b', 30],
      ['c', 10],
      ['d', 20],
    ]);
    expect(orderForStage(['you', 'b', 'c', 'd', 'e', 'f'], ['you', 'b', 'c', 'd', 'e', 'f'], 4, spokeAt, new Set(['f']))).toEqual([
      'you',
      'b',
      'f',
      'd',
      'e',
      'c',
    ]);
  });

  test('moves neither the visitor nor anybody who speaks', () => {
    const before = ['you', 'b', 'c'];
    expect(orderForStage(before, before, 2, never, new Set(['b', 'c']))).toBe(before);
    expect(orderForStage(before, before, 1, never, new Set(['c']))).toBe(before);
  });
});

test('people are sorted by their last speech behind the visitor, and silent people keep their order', () => {
  const spokeAt = new Map([
    ['c', 10],
    ['e', 30],
  ]);
  expect(orderByLastSpoken(['you', 'b', 'c', 'd', 'e'], spokeAt)).toEqual(['you', 'e', 'c', 'b', 'd']);
});

describe('the grid', () => {
  test('fits a wide and a high space', () => {
    expect(fitGrid(2, { width: 1000, height: 500 }, 4 / 3, 8).columns).toBe(2);
    expect(fitGrid(2, { width: 400, height: 800 }, 4 / 3, 8).columns).toBe(1);
    expect(fitGrid(1, { width: 400, height: 300 }, 4 / 3, 8)).toEqual({ columns: 1, width: 400, height: 300 });
  });

  test('never overflows', () => {
    for (let count = 1; count <= 60; count++) {
      const { columns, width, height } = fitGrid(count, { width: 800, height: 600 }, 0.8, 12);
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
