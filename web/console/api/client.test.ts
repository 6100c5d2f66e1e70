import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { ApiError, errorOfChange, fetchJSON } from './client';

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

describe('the error of a change', () => {
  test.each([
    ['no response', new ApiError(0, 'unreachable', 'The server does not respond.', '')],
    ['a response of a proxy', new ApiError(502, '', 'The server responded with the status 502.', '')],
  ])('says that it may have been made after %s', (_, error) => {
    expect(errorOfChange(error)).toMatchObject({ status: error.status, message: expect.stringContaining('this may have been done') });
  });

  test.each([
    ['a refusal', new ApiError(409, 'overlap_in_force', 'the overlap has not ended', 'req_1')],
    ['a refusal of a proxy', new ApiError(413, '', 'The server responded with the status 413.', '')],
    ['a failure of the server', new ApiError(503, 'unavailable', 'the database is unavailable', 'req_1')],
  ])('stays as it is after %s', (_, error) => expect(errorOfChange(error)).toBe(error));
});
