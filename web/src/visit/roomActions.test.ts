import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { JoinApi } from '../api/client';
import { RoomActions } from './roomActions';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const unavailable = (seconds: string): Response =>
  new Response('{"error":{"code":"unavailable","message":"x"}}', { status: 503, headers: { 'retry-after': seconds } });
const done = (): Response => new Response(null, { status: 204 });

/** The actions of a page that gets these responses; the last one is repeated. */
function scenario(...responses: (() => Response)[]): { actions: RoomActions; requests: string[]; moves: () => number; ends: () => number } {
  const requests: string[] = [];
  let moves = 0;
  let ends = 0;
  const api = new JoinApi('a', (input) => {
    requests.push(String(input).replace('/api/join/rooms/a/', ''));
    return Promise.resolve(responses[Math.min(requests.length, responses.length) - 1]?.() ?? done());
  });
  const actions = new RoomActions(api, Promise.resolve('k'.repeat(43)), { moved: () => moves++, ended: () => ends++ });
  return { actions, requests, moves: () => moves, ends: () => ends };
}

test('an action is retried while the server is unavailable', async () => {
  const { actions, requests, moves } = scenario(
    () => unavailable('1'),
    () => unavailable('2'),
    done,
  );
  const going = actions.moveSelf(2);
  await vi.advanceTimersByTimeAsync(999);
  expect(requests).toHaveLength(1);
  await vi.advanceTimersByTimeAsync(2_001);
  expect(await going).toEqual({ is: 'ok', value: null });
  expect(requests).toEqual(['move', 'move', 'move']);
  expect(moves()).toBe(1);
});

test('only an end that the server confirms is the visitor’s', async () => {
  const refused = (): Response => new Response('{"error":{"code":"not_host","message":"x"}}', { status: 403 });
  const { actions, ends } = scenario(refused, done);
  await actions.end();
  expect(ends()).toBe(0);
  await actions.end();
  expect(ends()).toBe(1);
});

test('retries end when the server stays unavailable', async () => {
  const { actions, requests, moves } = scenario(() => unavailable('1'));
  const going = actions.moveSelf(2);
  await vi.advanceTimersByTimeAsync(4_000);
  expect(await going).toEqual({ is: 'unreachable', waitMs: 1_000 });
  expect(requests).toHaveLength(5);
  expect(moves()).toBe(0);
});

test.each([
  ['wants nobody soon', () => unavailable('60')],
  ['names no time', () => new Response('<h1>Bad gateway</h1>', { status: 502 })],
  ['says no', () => new Response('{"error":{"code":"not_host","message":"x"}}', { status: 403 })],
])('a server that %s is asked once', async (_, response) => {
  const { actions, requests } = scenario(response);
  expect(await actions.closeBreakouts()).not.toMatchObject({ is: 'ok' });
  expect(requests).toHaveLength(1);
});

test('a request to unmute is not retried', async () => {
  const { actions, requests } = scenario(() => unavailable('1'));
  expect(await actions.askToUnmute('b')).toMatchObject({ is: 'unreachable' });
  expect(requests).toEqual(['unmute']);
});

test('an announcement is not retried', async () => {
  const { actions, requests } = scenario(() => unavailable('1'));
  expect(await actions.broadcast('Five more minutes.')).toMatchObject({ is: 'unreachable' });
  expect(requests).toHaveLength(1);
});
