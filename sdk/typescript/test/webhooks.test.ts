import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  InvalidArgumentError,
  InvalidSignatureError,
  signBody,
  signRequest,
  signWebhook,
  UnexpectedResponseError,
  verifyBody,
  verifyRequest,
  verifyWebhook,
  verifyWebhookSignature,
} from '@parley/sdk';
import type { WebhookEvent, WebhookOptions } from '@parley/sdk/webhooks';
import { webhookHandler } from '@parley/sdk/webhooks';
import { projectSecret, rejection } from './server.js';
import { body, event, signedHeaders } from './signed.js';

const url = 'https://example.org/webhooks';
const other = 'whsec_//79/Pv6+fj39vX08/Lx8O/u7ezr6uno5+bl5OPi4eA=';

async function post(options: Partial<WebhookOptions>, init: RequestInit = {}): Promise<[number, string]> {
  const handler = webhookHandler({ secrets: projectSecret, onEvent: () => {}, ...options });
  const response = await handler(
    new Request(url, { method: 'POST', headers: await signedHeaders(body), body, ...init }),
  );
  return [response.status, await response.text()];
}

test('a handler passes a verified event on', async () => {
  const events: WebhookEvent[] = [];
  const onEvent = (received: WebhookEvent) => void events.push(received);
  assert.deepEqual(await post({ onEvent }), [204, '']);
  assert.deepEqual(events, [event]);
});

test('a handler accepts both secrets during a rotation', async () => {
  for (const secret of [projectSecret, other]) {
    const headers = await signedHeaders(body, { secret });
    assert.deepEqual(await post({ secrets: [other, projectSecret] }, { headers }), [204, '']);
  }
});

test('a handler refuses what is not signed, and calls nothing', async () => {
  const onEvent = () => assert.fail('called');
  const changed = body.replace('api', 'host');
  for (const [init, text] of [
    [{ body: changed }, 'no signature matches'],
    [{ headers: await signedHeaders(body, { secret: other }) }, 'no signature matches'],
    [{ headers: await signedHeaders(body, { age: 400 }) }, 'the timestamp is too old'],
    [{ headers: await signedHeaders(body, { age: -400 }) }, 'the timestamp is too new'],
    [{ headers: {} }, 'missing header webhook-id'],
  ] as const) {
    assert.deepEqual(await post({ onEvent }, init), [401, text]);
  }
  assert.equal((await post({ onEvent, tolerance: 10 }, { headers: await signedHeaders(body, { age: 20 }) }))[0], 401);
});

test('an exception of onEvent is a 500 of which the sender learns no detail', async () => {
  const failure = new InvalidSignatureError({ message: 'of another service' });
  const reported: unknown[] = [];
  const onError = (error: unknown) => void reported.push(error);
  const response = await post({ onError, onEvent: () => Promise.reject(failure) });
  assert.deepEqual(response, [500, 'the event could not be processed']);
  assert.deepEqual(reported, [failure]);
});

test('a handler refuses other methods and large bodies', async () => {
  const handler = webhookHandler({ secrets: projectSecret, onEvent: () => assert.fail('called') });
  const get = await handler(new Request(url));
  assert.deepEqual([get.status, get.headers.get('allow')], [405, 'POST']);
  const large = 'x'.repeat(1024 * 1024 + 1);
  assert.equal((await handler(new Request(url, { method: 'POST', body: large })))?.status, 413);
});

test('a handler explains that the body was read before', async () => {
  const reported: unknown[] = [];
  const handler = webhookHandler({
    secrets: projectSecret,
    onEvent: () => {},
    onError: (error) => reported.push(error),
  });
  const request = new Request(url, { method: 'POST', headers: await signedHeaders(body), body });
  await request.json();
  assert.equal((await handler(request)).status, 500);
  assert.match(String(reported[0]), /raw body of the webhook is gone/);
});

test('a handler with bad options is not created', () => {
  const onEvent = () => {};
  for (const secrets of ['', [], [''], 'pk_abc', 'whsec_abc', `${projectSecret}\n`, undefined, [undefined]]) {
    assert.throws(() => webhookHandler({ secrets: secrets as string, onEvent }), InvalidArgumentError);
  }
  assert.throws(() => webhookHandler({ secrets: projectSecret, onEvent, tolerance: -1 }), InvalidArgumentError);
  const missing = undefined as unknown as () => void;
  assert.throws(() => webhookHandler({ secrets: projectSecret, onEvent: missing }), InvalidArgumentError);
});

test('verifyWebhook reads headers of every form', async () => {
  const headers = await signedHeaders(body);
  const upper = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toUpperCase(), value]));
  for (const source of [headers, upper, new Headers(headers)]) {
    assert.deepEqual(await verifyWebhook({ secrets: projectSecret, headers: source, body }), event);
  }
  const twice = { ...headers, 'webhook-id': [event.id, event.id] };
  await rejection(verifyWebhook({ secrets: projectSecret, headers: twice, body }), InvalidSignatureError);
});

test('verifyWebhook reads raw bodies of every form, and refuses a body that was parsed', async () => {
  const headers = await signedHeaders(body);
  const bytes = new TextEncoder().encode(body);
  for (const raw of [body, bytes, bytes.buffer, Buffer.from(body), new Uint8Array([0, ...bytes]).subarray(1)]) {
    assert.deepEqual(await verifyWebhook({ secrets: projectSecret, headers, body: raw }), event);
  }
  const parsed = JSON.parse(body);
  await rejection(verifyWebhook({ secrets: projectSecret, headers, body: parsed }), InvalidArgumentError);
});

test('verifyWebhook has an exact tolerance', async () => {
  const now = Math.floor(Date.now() / 1000);
  const headers = await signedHeaders(body);
  const timestamp = Number(headers['webhook-timestamp']);
  const verify = (at: number) => verifyWebhook({ secrets: projectSecret, headers, body, tolerance: 60, now: at });
  assert.ok(Math.abs(now - timestamp) <= 1);
  assert.deepEqual(await verify(timestamp + 60.9), event);
  assert.deepEqual(await verify(timestamp - 60), event);
  assert.equal((await rejection(verify(timestamp + 61), InvalidSignatureError)).message, 'the timestamp is too old');
  assert.equal((await rejection(verify(timestamp - 61), InvalidSignatureError)).message, 'the timestamp is too new');
  for (const wrong of [{ tolerance: Number.NaN }, { tolerance: -1 }, { now: Number.NaN }]) {
    await rejection(verifyWebhook({ secrets: projectSecret, headers, body, ...wrong }), InvalidArgumentError);
  }
});

test('a signed body that is no event is an unexpected response', async () => {
  for (const text of ['{}', '[]', 'no JSON', '{"id":"i","type":5,"sequence":1,"data":{}}']) {
    const headers = await signedHeaders(text);
    await rejection(verifyWebhook({ secrets: projectSecret, headers, body: text }), UnexpectedResponseError);
  }
});

test('no signature is made with an empty key or an ambiguous text', async () => {
  const request = { method: 'GET', target: '/api/v5/keys', timestamp: '1767225600' };
  await rejection(signRequest('', request), InvalidArgumentError);
  await rejection(signBody('', '{}'), InvalidArgumentError);
  for (const [id, timestamp] of [
    ['', '1'],
    ['a.b', '1'],
    ['a b', '1'],
    ['a', ''],
    ['a', '1.5'],
    ['a', '-1'],
    ['a', '1234567890123456789'],
  ] as const) {
    await rejection(signWebhook(projectSecret, { id, timestamp, body }), InvalidArgumentError);
    assert.equal(await verifyWebhookSignature(projectSecret, { id, timestamp, body }, 'v1,AAAA'), false);
  }
});

test('a malformed signature does not verify', async () => {
  const request = { method: 'get', target: '/api/v5/keys', timestamp: '1767225600' };
  const signature = await signRequest('gs_x', request);
  assert.equal(await verifyRequest('gs_x', { ...request, method: 'GET' }, signature), true);
  for (const wrong of ['', signature.slice(2), `${signature}00`, `${signature}\n`, '0'.repeat(1_000_000)]) {
    assert.equal(await verifyRequest('gs_x', request, wrong), false);
    assert.equal(await verifyBody('pk_x', '{}', wrong), false);
  }
  assert.equal(await verifyRequest('', request, signature), false);
});
