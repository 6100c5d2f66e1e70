import { describe, expect, test, vi } from 'vitest';
import { JoinApi, type Result, retryAfter, type Value } from './client';

const request = { name: 'Ben', seat_key: 'k'.repeat(43), link: 'secret' };

/** Calls the client against this response. Returns the result and the request. */
async function ask(respond: () => Response | Promise<Response>): Promise<{ result: Result<Value<'seats'>>; url: string; body: unknown }> {
  let url = '';
  let body: unknown;
  const api = new JoinApi('a/b', (input, init) => {
    url = String(input);
    body = JSON.parse(String(init?.body));
    return Promise.resolve().then(respond);
  });
  return { result: await api.call('seats', request), url, body };
}

const refuse = (status: number, body: unknown, headers = {}): Response => new Response(JSON.stringify(body), { status, headers });

test('tokens are sent in the body, never in the address', async () => {
  const { url, body, result } = await ask(() => new Response('{"identity":"1"}'));
  expect(url).toBe('/api/join/rooms/a%2Fb/seats');
  expect(body).toEqual(request);
  expect(result).toEqual({ is: 'ok', value: { identity: '1' } });
});

test('a response without a body is a success', async () => {
  let url = '';
  const api = new JoinApi('a', (input) => {
    url = String(input);
    return Promise.resolve(new Response(null, { status: 204 }));
  });
  expect(await api.call('breakouts/close', { seat_key: 'k'.repeat(43) })).toEqual({ is: 'ok', value: null });
  expect(url).toBe('/api/join/rooms/a/breakouts/close');
});

describe('an error', () => {
  test('has its code, its reason and the wait', async () => {
    const ended = await ask(() => refuse(410, { error: { code: 'room_ended', message: 'x', reason: 'duration' } }));
    expect(ended.result).toEqual({
      is: 'refused',
      error: { code: 'room_ended', reason: 'duration', title: null, maxParticipants: null, waitMs: 0 },
    });
    const busy = await ask(() => refuse(429, { error: { code: 'too_many_attempts', message: 'x' } }, { 'retry-after': '40' }));
    expect(busy.result).toEqual({
      is: 'refused',
      error: { code: 'too_many_attempts', reason: null, title: null, maxParticipants: null, waitMs: 40_000 },
    });
  });

  test('for a full room has the number of seats', async () => {
    const { result } = await ask(() => refuse(409, { error: { code: 'room_full', message: 'x', max_participants: 4 } }));
    expect(result).toMatchObject({ error: { code: 'room_full', maxParticipants: 4 } });
  });

  test.each(['too_many_attempts', 'too_many_joins', 'turned_away'])('for %s always has a wait', async (code) => {
    const { result } = await ask(() => refuse(429, { error: { code, message: 'x' } }));
    expect(result).toMatchObject({ error: { waitMs: 30_000 } });
  });
});

describe('an unreachable server', () => {
  test.each([
    ['no network', () => Promise.reject(new TypeError('Failed to fetch'))],
    ['a page of a proxy', () => new Response('<h1>Bad gateway</h1>', { status: 502 })],
    ['a stumble', () => refuse(500, { error: { code: 'internal', message: 'x' } })],
    ['a response cut short', () => new Response('{"identity":', { status: 200 })],
  ])('is %s', async (_, respond) => expect((await ask(respond)).result).toEqual({ is: 'unreachable', waitMs: 0 }));

  test('includes one that asks for time', async () => {
    const { result } = await ask(() => refuse(503, { error: { code: 'unavailable', message: 'x' } }, { 'retry-after': '2' }));
    expect(result).toEqual({ is: 'unreachable', waitMs: 2_000 });
  });
});

test('a request without a response makes the browser close all connections on which nothing comes', async () => {
  vi.useFakeTimers();
  const open = new Map<string, number>();
  const api = new JoinApi('a', (input, init) => {
    const path = String(input);
    open.set(path, (open.get(path) ?? 0) + 1);
    return new Promise((_, reject) => {
      init?.signal?.addEventListener('abort', () => {
        open.set(path, (open.get(path) ?? 0) - 1);
        reject(new DOMException('', 'AbortError'));
      });
    });
  });
  let result: unknown;
  void api.call('people', { seat_key: 'k'.repeat(43) }).then((given) => {
    result = given;
  });
  await vi.advanceTimersByTimeAsync(8_000);
  expect(open.get('/favicon.svg')).toBe(6);
  expect(result).toBeUndefined();
  await vi.advanceTimersByTimeAsync(1_500);
  expect([...open.values()]).toEqual([0, 0]);
  expect(result).toEqual({ is: 'unreachable', waitMs: 0 });
  vi.useRealTimers();
});

test('a request that the page gives up probes nothing', async () => {
  const paths: string[] = [];
  const abort = new AbortController();
  const api = new JoinApi('a', (input, init) => {
    paths.push(String(input));
    return new Promise((_, reject) => init?.signal?.addEventListener('abort', () => reject(new DOMException('', 'AbortError'))));
  });
  const result = api.call('seats', request, { signal: abort.signal });
  abort.abort();
  expect(await result).toEqual({ is: 'unreachable', waitMs: 0 });
  expect(paths).toEqual(['/api/join/rooms/a/seats']);
});

test.each([
  [null, 0],
  ['0', 0],
  ['12', 12_000],
  ['-5', 0],
  ['Thu, 01 Jan 2026 00:00:30 GMT', 30_000],
  ['Thursday, 01-Jan-26 00:00:30 GMT', 30_000],
  ['Thu Jan  1 00:00:30 2026', 30_000],
  ['Thu, 01 Jan 2025 00:00:00 GMT', 0],
  ['soon', 0],
])('Retry-After: %s', (header, ms) => {
  vi.stubEnv('TZ', 'Asia/Kolkata');
  expect(retryAfter(header, Date.UTC(2026, 0, 1))).toBe(ms);
  vi.unstubAllEnvs();
});
