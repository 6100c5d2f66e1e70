import { expect, test } from 'vitest';
import { type CallFilters, causesCommand, countCauses, onlyRejected } from './causes';

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

test.each<[CallFilters, string]>([
  [{ project_id: 'p1', status: 'rejected' }, 'parley calls --by cause --project p1'],
  [
    { project_id: 'p1', status: '4xx', since: '2026-11-23T23:00:00.000Z', before: '2026-11-24T23:00:00.000Z' },
    'parley calls --by cause --project p1 --status 4xx --since 2026-11-23T23:00:00.000Z --before 2026-11-24T23:00:00.000Z',
  ],
  [
    { project_id: 'p1', cause: "it's", version: 'backend', key_slot: 'overlap', route: '/api/v4/rooms/{room_id}/events' },
    "parley calls --by cause --project p1 --key-slot overlap --cause 'it'\\''s' --version backend --route '/api/v4/rooms/{room_id}/events'",
  ],
  [{ project_id: 'p1', request_id: 'req1', cause: '' }, 'parley calls --by cause --project p1 --request req1'],
])('the causes of all API calls that match %j are counted by %s', (filters, command) => {
  expect(causesCommand(filters)).toBe(command);
});
