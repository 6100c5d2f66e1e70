import { expect, test } from 'vitest';
import { adviseOverlap, quietMs } from './overlapAdvice';

const rotatedAt = Date.UTC(2026, 10, 24, 8);
const newUsedAt = Date.UTC(2026, 10, 24, 9);
const call = (hour: number, user_agent: string, route = '/api/v4/rooms') =>
  ({ at: new Date(Date.UTC(2026, 10, 24, hour)).toISOString(), user_agent, client_address: '192.0.2.1', route }) as never;

test('calls with the old key are grouped by their caller', () => {
  const advice = adviseOverlap(
    [call(11, 'a'), call(10, 'b'), call(9, 'a'), call(7, 'c')],
    { rotatedAt, usedAt: null, newUsedAt },
    Date.UTC(2026, 10, 24, 12),
  );
  expect(advice.clients.map(({ userAgent, calls, lastAt }) => [userAgent, calls, lastAt])).toEqual([
    ['a', 2, '2026-11-24T11:00:00.000Z'],
    ['b', 1, '2026-11-24T10:00:00.000Z'],
  ]);
  expect(advice).toMatchObject({ state: 'wait', lastMs: Date.UTC(2026, 10, 24, 11), safeAt: Date.UTC(2026, 10, 24, 17) });
});

test.each([
  ['six hours after the last use', [call(9, 'a')], newUsedAt, 15, 'safe'],
  ['less than six hours after the last use', [call(9, 'a')], newUsedAt, 14.9, 'wait'],
  ['six hours after the rotation, unused', [], newUsedAt, 14, 'safe'],
  ['soon after the rotation, unused', [], newUsedAt, 13.9, 'wait'],
  ['soon after the rotation, both unused', [], null, 13.9, 'wait'],
  ['six hours after the rotation, both unused', [], null, 14, 'idle'],
  ['less than six hours after the last use, with the new key unused', [call(9, 'a')], null, 14.9, 'wait'],
])('%s', (_, calls, newUsedAt, hour, state) => {
  const now = Date.UTC(2026, 10, 24) + hour * 3_600_000;
  expect(adviseOverlap(calls, { rotatedAt, usedAt: null, newUsedAt }, now).state).toBe(state);
  expect(quietMs).toBe(21_600_000);
});

test('a use that is not among the calls counts', () => {
  const usedAt = Date.UTC(2026, 10, 24, 15);
  const advice = adviseOverlap([call(9, 'a')], { rotatedAt, usedAt, newUsedAt }, Date.UTC(2026, 10, 24, 20));
  expect(advice).toMatchObject({ state: 'wait', lastMs: usedAt });
});

test('without the time of the rotation, nothing is safe', () => {
  expect(adviseOverlap([call(10, 'a')], { rotatedAt: null, usedAt: null, newUsedAt }, Date.UTC(2026, 10, 25)).state).toBe('wait');
});

test('the last caller is a client, also without recorded calls', () => {
  const usedBy = { address: '192.0.2.9', user_agent: 'cron', at: '2026-11-24T12:00:00Z' };
  const old = { rotatedAt, usedAt: Date.parse(usedBy.at), usedBy, newUsedAt };
  const clientsOf = (calls: never[]): string[][] =>
    adviseOverlap(calls, old, Date.UTC(2026, 10, 24, 13)).clients.map(({ userAgent, address }) => [userAgent, address]);
  expect(clientsOf([])).toEqual([['cron', '192.0.2.9']]);
  expect(clientsOf([call(9, 'a')])).toEqual([
    ['cron', '192.0.2.9'],
    ['a', '192.0.2.1'],
  ]);
  expect(clientsOf([{ ...(call(9, 'cron') as object), client_address: '192.0.2.9' } as never])).toEqual([['cron', '192.0.2.9']]);
});
