import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { ApiError, fetchJSON } from './client';

const tooMany = (seconds: string): Response =>
  Response.json({ error: { code: 'rate_limited', message: 'too many calls' } }, { status: 429, headers: { 'retry-after': seconds } });

describe('a read that exceeds the rate limit', () => {
  const fetched = vi.fn<typeof fetch>();
  beforeEach(() => {
    vi.useFakeTimers();
    vi.stubGlobal('fetch', fetched);
    fetched.mockReset();
  });
  afterEach(() => {
    vi.useRealTimers();
    vi.unstubAllGlobals();
  });

  test('waits as long as the server says, and succeeds', async () => {
    fetched.mockResolvedValueOnce(tooMany('1')).mockResolvedValueOnce(Response.json({ rooms: [] }));
    const read = fetchJSON('GET', '/api/manage/rooms');
    await vi.advanceTimersByTimeAsync(999);
    expect(fetched).toHaveBeenCalledTimes(1);
    await vi.advanceTimersByTimeAsync(1);
    expect(await read).toEqual({ rooms: [] });
  });

  test('fails after the fourth attempt', async () => {
    fetched.mockImplementation(() => Promise.resolve(tooMany('1')));
    const failed = expect(fetchJSON('GET', '/api/manage/rooms')).rejects.toMatchObject({ status: 429, code: 'rate_limited' });
    await vi.advanceTimersByTimeAsync(10_000);
    await failed;
    expect(fetched).toHaveBeenCalledTimes(4);
  });

  test.each([
    ['whose wait is long', 'GET', '60'],
    ['of another method', 'POST', '1'],
  ])('fails at once, %s', async (_, method, seconds) => {
    fetched.mockResolvedValueOnce(tooMany(seconds));
    await expect(fetchJSON(method, '/api/manage/rooms')).rejects.toBeInstanceOf(ApiError);
    expect(fetched).toHaveBeenCalledTimes(1);
  });
});
