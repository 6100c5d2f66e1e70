import assert from 'node:assert/strict';
import { once } from 'node:events';
import { test } from 'node:test';
import { inspect } from 'node:util';
import { ConnectionError, InvalidRequestError, UnavailableError, UnexpectedResponseError } from '@parley/sdk';
import { connect, quickRoom, rejection, roomId } from './server.js';

const keys = { body: { data: { current: { id: 'k', api_key: 'pk_…' }, overlap: null } } };

function unavailable(headers: Record<string, string> = {}) {
  return { status: 503, body: { error: 'the database does not answer' }, headers };
}

test('a call whose signal is aborted already sends nothing', async (t) => {
  const { client, requests } = await connect(t, () => keys);
  const reason = new Error('stop');
  await assert.rejects(client.keys({ signal: AbortSignal.abort(reason) }), reason);
  assert.equal(requests.length, 0);
});

test('a signal aborts a request that is under way, closes its connection, and prevents a repetition', async (t) => {
  const controller = new AbortController();
  let closed: Promise<unknown> | undefined;
  const { client, requests } = await connect(t, (_request, response) => {
    closed = once(response, 'close');
    setTimeout(() => controller.abort(), 20);
    return undefined;
  });
  await assert.rejects(client.keys({ signal: controller.signal }), { name: 'AbortError' });
  await closed;
  assert.equal(requests.length, 1);
});

test('a signal aborts the body of a response', async (t) => {
  const controller = new AbortController();
  const { client, requests } = await connect(t, (_request, response) => {
    response.writeHead(200, { 'X-Request-ID': 'req_1' });
    response.write('{"data":', () => setTimeout(() => controller.abort(), 20));
    return undefined;
  });
  await assert.rejects(client.keys({ signal: controller.signal }), { name: 'AbortError' });
  assert.equal(requests.length, 1);
});

test('a signal aborts the wait for the next attempt', async (t) => {
  const { client, requests } = await connect(t, () => unavailable({ 'Retry-After': '29' }));
  const began = performance.now();
  await assert.rejects(client.keys({ signal: AbortSignal.timeout(300) }), { name: 'TimeoutError' });
  assert.equal(requests.length, 1);
  assert.ok(performance.now() - began < 29_000);
});

test('a signal that is aborted after the call has no effect', async (t) => {
  const { client } = await connect(t, () => keys);
  const controller = new AbortController();
  const { current } = await client.keys({ signal: controller.signal });
  controller.abort();
  assert.equal(current.id, 'k');
});

test('an attempt that takes too long is a lost connection, and is repeated', async (t) => {
  const options = { timeout: 2, max_attempts: 2 };
  const { client, requests } = await connect(t, () => undefined, options);
  const error = await rejection(client.keys(), ConnectionError);
  assert.equal(error.message, 'no response arrived: the attempt took longer than 2 s');
  assert.deepEqual([error.attempts, error.status, error.request_id, requests.length], [2, null, '', 2]);
});

test('the time limit of an attempt includes the body', async (t) => {
  const { client } = await connect(
    t,
    (_request, response) => {
      response.writeHead(200, { 'X-Request-ID': 'req_1' }).write('{');
      return undefined;
    },
    { timeout: 2, max_attempts: 1 },
  );
  const error = await rejection(client.keys(), ConnectionError);
  assert.match(error.message, /^only a part of the response arrived: the attempt took longer/);
});

test('a refused connection names the reason', async (t) => {
  const { client } = await connect(t, () => keys, { base_url: 'http://127.0.0.1:1', max_attempts: 1 });
  const error = await rejection(client.keys(), ConnectionError);
  assert.match(error.message, /^no response arrived: .*(ECONNREFUSED|bad port)/);
});

test('a repetition waits at least as long as Retry-After says', async (t) => {
  const { client, requests } = await connect(t, (_request, _response, number) =>
    number === 1 ? unavailable({ 'Retry-After': '1' }) : keys,
  );
  const began = performance.now();
  await client.keys();
  assert.equal(requests.length, 2);
  assert.ok(performance.now() - began >= 999);
});

test('Retry-After is read in all its forms', async (t) => {
  const date = 'Sun, 06 Nov 1994 08:49:37 GMT';
  for (const [text, expected] of [
    ['60', 60],
    ['99999999999999999999', 86_400],
    ['-5', 0],
    ['soon', null],
    ['1.5', null],
    ['Sun, 06 Nov 1994 08:50:37 GMT', 60],
    ['Sunday, 06-Nov-94 08:50:37 GMT', 60],
    ['Sun Nov  6 08:50:37 1994', 60],
    ['Sun, 06 Nov 1994 08:49:00 GMT', 0],
    ['Mon, 07 Nov 2044 08:49:37 GMT', 86_400],
    ['Sun, 06 Foo 1994 08:50:37 GMT', null],
  ] as const) {
    const { client } = await connect(t, () => unavailable({ 'Retry-After': text, Date: date }), { max_attempts: 1 });
    assert.equal((await rejection(client.keys(), UnavailableError)).retry_after, expected, text);
  }
});

test('an attempt after a correction of the clock is not counted', async (t) => {
  const { client, requests } = await connect(
    t,
    (_request, _response, number) => {
      const Date_ = new Date(Date.now() + 3_600_000).toUTCString();
      if (number === 1) return { status: 401, body: { error: 'invalid signature' }, headers: { Date: Date_ } };
      return number === 2 ? { ...unavailable({ Date: Date_ }) } : { ...keys, headers: { Date: Date_ } };
    },
    { max_attempts: 2 },
  );
  await client.keys();
  assert.equal(requests.length, 3);
});

test('a correction of the clock serves all later calls', async (t) => {
  const { client, requests } = await connect(t, (request) => {
    const headers = { Date: new Date(Date.now() - 7_200_000).toUTCString() };
    const off = Math.abs(Number(request.headers.timestamp) * 1000 - (Date.now() - 7_200_000)) > 300_000;
    return off ? { status: 401, body: { error: 'invalid signature' }, headers } : { ...keys, headers };
  });
  await Promise.all([client.keys(), client.keys(), client.keys()]);
  const before = requests.length;
  await client.keys();
  assert.equal(requests.length, before + 1);
});

test('a call is repeated with the same body and idempotency key', async (t) => {
  const { client, requests } = await connect(t, (_request, _response, number) =>
    number === 1 ? unavailable() : { body: { room_id: roomId, final_link: 'https://meet.example.org/r/x#t' } },
  );
  await client.createQuickVideoRoom({ ...quickRoom, idempotency_key: 'order 1' });
  const [first, second] = requests;
  assert.equal(first?.body, second?.body);
  assert.equal(second?.headers['idempotency-key'], 'order 1');
  assert.match(first?.body ?? '', /^\{"project_id":"[^"]+","name":"Zoë",/);
});

test('a large error is cut, and a large success is refused', async (t) => {
  const endless = (status: number) =>
    connect(t, (_request, response) => {
      response.writeHead(status, { 'X-Request-ID': 'req_1' });
      const write = () => {
        while (!response.destroyed && response.write('x'.repeat(65_536)));
        if (!response.destroyed) response.once('drain', write);
      };
      write();
      return undefined;
    });
  const refused = await endless(400);
  assert.equal((await rejection(refused.client.keys(), InvalidRequestError)).message, 'Bad Request');
  const accepted = await endless(200);
  const error = await rejection(accepted.client.keys(), UnexpectedResponseError);
  assert.equal(error.message, 'the response is larger than 4 MiB');
});

test('the list of active rooms, which has no pages, may be larger than other responses', async (t) => {
  const body = `{"response":{"rooms":[]${' '.repeat(5 * 1024 * 1024)}}}`;
  const { client } = await connect(t, () => ({ body }));
  assert.deepEqual(await client.activeRooms(), []);
});

test('a response that is no HTTP does not bring the API key into the error', async (t) => {
  const { client } = await connect(
    t,
    (request, response) => {
      response.socket?.end(`no HTTP: ${request.headers['api-key']}\r\n\r\n`);
      return undefined;
    },
    { max_attempts: 1 },
  );
  const error = await rejection(client.keys(), ConnectionError);
  assert.doesNotMatch(inspect(error, { depth: null, showHidden: true }), /pk_/);
});

test('with Bun, a request that must not be sent twice takes a new connection', async (t) => {
  Object.assign(globalThis, { Bun: {} });
  t.after(() => Reflect.deleteProperty(globalThis, 'Bun'));
  const sent = t.mock.method(globalThis, 'fetch');
  const { client } = await connect(t, () => ({ body: { data: {}, room_id: roomId, final_link: 'https://x/r/1#t=2' } }));
  await client.createQuickVideoRoom(quickRoom);
  await client.createQuickVideoRoom({ ...quickRoom, idempotency_key: 'once' });
  await client.endRoom({ room_id: roomId }).catch(() => undefined);
  const options = sent.mock.calls.map(({ arguments: [target, init] }) => [
    `${target}`.split('/').pop(),
    init?.keepalive,
  ]);
  assert.deepEqual(options, [
    ['create_quick_video_room', false],
    ['create_quick_video_room', undefined],
    ['end_room', false],
  ]);
});
