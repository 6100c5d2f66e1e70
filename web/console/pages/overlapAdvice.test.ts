import { expect, test } from 'vitest';
import { adviseOverlap, quietMs } from './overlapAdvice';

const at = (hour: number): number => Date.UTC(2026, 10, 24) + hour * 3_600_000;
const caller = (hour: number, user_agent: string, address = '192.0.2.1') => ({ at: new Date(at(hour)).toISOString(), user_agent, address });
const rotatedAt = at(8);
const newUsedAt = at(9);
const none = { rotatedAt, usedAt: null, callers: [], newCallers: [], newUsedAt };

test('clients are an address with a user agent, the latest first', () => {
  const callers = [caller(10, 'b'), caller(11, 'a'), caller(7, 'c'), caller(9, 'a', '192.0.2.2')];
  const newCallers = [caller(12, 'a'), caller(9, 'b')];
  const advice = adviseOverlap({ ...none, callers, newCallers }, at(12));
  expect(advice.clients.map(({ userAgent, address, lastAt, newAt }) => [userAgent, address, Date.parse(lastAt), newAt])).toEqual([
    ['a', '192.0.2.1', at(11), '2026-11-24T12:00:00.000Z'],
    ['b', '192.0.2.1', at(10), '2026-11-24T09:00:00.000Z'],
    ['a', '192.0.2.2', at(9), null],
    ['c', '192.0.2.1', at(7), null],
  ]);
  expect(advice).toMatchObject({ state: 'wait', lastMs: at(11), safeAt: at(17), unseen: 3 });
});

const changedOver = { callers: [caller(9, 'a')], newCallers: [caller(10, 'a')] };

test.each([
  ['six hours after the last use', { ...none, ...changedOver }, 15, 'safe'],
  ['less than six hours after the last use', { ...none, ...changedOver }, 14.9, 'wait'],
  ['six hours after the rotation, unused', none, 14, 'safe'],
  ['soon after the rotation, unused', none, 13.9, 'wait'],
  ['soon after the rotation, both unused', { ...none, newUsedAt: null }, 13.9, 'wait'],
  ['six hours after the rotation, both unused', { ...none, newUsedAt: null }, 14, 'idle'],
  ['six hours after the last use, with the new key unused', { ...none, callers: [caller(9, 'a')], newUsedAt: null }, 15, 'idle'],
  ['a client that has not used the new key', { ...none, callers: [caller(9, 'a')], newCallers: [caller(10, 'b')] }, 15, 'unseen'],
  ['a client that used the old key again', { ...none, callers: [caller(9, 'a')], newCallers: [caller(8.5, 'a')] }, 15, 'unseen'],
  ['a nightly job from before the rotation', { ...none, callers: [caller(2, 'nightly')] }, 40, 'unseen'],
  ['a use that has no caller', { ...none, usedAt: at(15) }, 20, 'wait'],
  ['without the time of the rotation', { ...none, ...changedOver, rotatedAt: null }, 48, 'wait'],
])('%s', (_, old, hour, state) => {
  expect(adviseOverlap(old, at(hour)).state).toBe(state);
  expect(quietMs).toBe(21_600_000);
});

test('the last use is the latest one since the rotation', () => {
  expect(adviseOverlap({ ...none, callers: [caller(7, 'a')] }, at(12)).lastMs).toBeNull();
  expect(adviseOverlap({ ...none, usedAt: at(11), callers: [caller(9, 'a')] }, at(12)).lastMs).toBe(at(11));
  expect(adviseOverlap({ ...none, usedAt: at(9), callers: [caller(11, 'a')] }, at(12)).lastMs).toBe(at(11));
});
