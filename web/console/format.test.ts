import { describe, expect, test } from 'vitest';
import { asRead, formatAgo, formatCount, formatDuration, formatVersion, shortenID } from './format';

test.each([
  [0.123, '0.12 ms'],
  [12.34, '12.3 ms'],
  [999, '999 ms'],
  [59_999, '59 s'],
  [60_000, '1 min'],
  [61_000, '1 min 1 s'],
  [3_600_000, '1 h'],
  [5_400_000, '1 h 30 min'],
  [3 * 86_400_000, '3 days'],
])('%d ms are %s', (ms, text) => expect(formatDuration(ms)).toBe(text));

describe('a distance in time', () => {
  test.each([
    [0, 'now'],
    [-1_500, '1 second ago'],
    [-3 * 3_600_000, '3 hours ago'],
    [2 * 86_400_000, 'in 2 days'],
  ])('%d ms is %s', (distance, text) => expect(formatAgo(1_000_000_000_000 + distance, 1_000_000_000_000)).toBe(text));
});

test('counts have a unit', () => {
  expect([formatCount(1, 'room'), formatCount(1200, 'room'), formatCount(0, 'delivery', 'deliveries')]).toEqual([
    '1 room',
    '1,200 rooms',
    '0 deliveries',
  ]);
});

test('an ID is shortened where its parts differ', () => {
  expect(shortenID('0197c2f1-1234-7abc-8def-0123456789ab')).toBe('0197…456789ab');
  expect(shortenID('short')).toBe('short');
});

test.each([
  ['v1.4.0', 'version v1.4.0'],
  ['v1.4.0-rc.1', 'version v1.4.0-rc.1'],
  ['devel', 'version devel'],
  ['v0.0.0-20261124044927-e55c6a994fe9', 'commit e55c6a9'],
  ['v1.4.1-0.20261124044927-e55c6a994fe9+dirty', 'commit e55c6a9, changed'],
  ['v1.4.0-rc.1.0.20261124044927-e55c6a994fe9', 'commit e55c6a9'],
])('version %s is %s', (version, text) => expect(formatVersion(version)).toBe(text));

test.each([
  ['Evening school', ' Evening  school\t', true],
  ['Lessons of \u00e9t\u00e9', 'Lessons of e\u0301te\u0301', true],
  ['Evening school', 'evening school', false],
])('%j is read as %j: %s', (one, other, same) => expect(asRead(one) === asRead(other)).toBe(same));
