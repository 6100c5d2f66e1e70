import { expect, test } from 'vitest';
import { countCauses, onlyRejected } from './causes';

test('rejected API calls are counted by cause and route, the most first', () => {
  const of = (cause: string, route: string) => ({ cause, route });
  expect(
    countCauses([
      of('bad_signature', '/a'),
      of('stale_timestamp', '/a'),
      of('', '/a'), // accepted
      of('stale_timestamp', '/b'),
      of('stale_timestamp', '/a'),
    ]),
  ).toEqual([
    { cause: 'stale_timestamp', route: '/a', calls: 2 },
    { cause: 'bad_signature', route: '/a', calls: 1 },
    { cause: 'stale_timestamp', route: '/b', calls: 1 },
  ]);
  expect(countCauses([])).toEqual([]);
});

test.each([
  [{}, false],
  [{ status: '2xx' }, false],
  [{ status: '200' }, false],
  [{ status: 'rejected' }, true],
  [{ status: '4xx' }, true],
  [{ status: '503' }, true],
  [{ cause: 'bad_signature' }, true],
])('%j leaves rejected API calls only: %j', (query, only) => {
  expect(onlyRejected(query as Record<string, string>)).toBe(only);
});
