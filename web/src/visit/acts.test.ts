import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { JoinApi } from '../api/client';
import { Acts } from './acts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const notNow = (seconds: string): Response =>
  new Response('{"error":{"code":"unavailable","message":"x"}}', { status: 503, headers: { 'retry-after': seconds } });
const done = (): Response => new Response(null, { status: 204 });

/** What a page does that gets these answers, the last of them for good. */
function page(...answers: (() => Response)[]): { acts: Acts; asked: string[]; moves: () => number } {
  const asked: string[] = [];
  let moves = 0;
  const api = new JoinApi('a', (input) => {
    asked.push(String(input).replace('/api/join/rooms/a/', ''));
    return Promise.resolve(answers[Math.min(asked.length, answers.length) - 1]?.() ?? done());
  });
  return { acts: new Acts(api, Promise.resolve('k'.repeat(43)), () => moves++), asked, moves: () => moves };
}

test('a button is pressed once, also when the server has no time at first', async () => {
  const { acts, asked, moves } = page(() => notNow('1'), () => notNow('2'), done);
  const going = acts.go(2);
  await vi.advanceTimersByTimeAsync(999);
  expect(asked).toHaveLength(1);
  await vi.advanceTimersByTimeAsync(2_001);
  expect(await going).toEqual({ is: 'ok', value: null });
  expect(asked).toEqual(['move', 'move', 'move']);
  expect(moves()).toBe(1);
});

test('a server that stays away is given up', async () => {
  const { acts, asked, moves } = page(() => notNow('1'));
  const going = acts.go(2);
  await vi.advanceTimersByTimeAsync(4_000);
  expect(await going).toEqual({ is: 'unreachable', waitMs: 1_000 });
  expect(asked).toHaveLength(5);
  expect(moves()).toBe(0);
});

test.each([
  ['wants nobody soon', () => notNow('60')],
  ['names no time', () => new Response('<h1>Bad gateway</h1>', { status: 502 })],
  ['says no', () => new Response('{"error":{"code":"not_host","message":"x"}}', { status: 403 })],
])('a server that %s is asked once', async (_, answer) => {
  const { acts, asked } = page(answer);
  expect(await acts.closeBreakouts()).not.toMatchObject({ is: 'ok' });
  expect(asked).toHaveLength(1);
});

test('somebody is asked to speak once', async () => {
  const { acts, asked } = page(() => notNow('1'));
  expect(await acts.askToUnmute('b')).toMatchObject({ is: 'unreachable' });
  expect(asked).toEqual(['unmute']);
});

test('a word to all is said once: some may have read it', async () => {
  const { acts, asked } = page(() => notNow('1'));
  expect(await acts.broadcast('Five more minutes.')).toMatchObject({ is: 'unreachable' });
  expect(asked).toHaveLength(1);
});
