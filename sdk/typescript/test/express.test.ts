import assert from 'node:assert/strict';
import { request as sendRequest } from 'node:http';
import { test } from 'node:test';
import type { WebhookEvent, WebhookOptions } from '@parley/sdk/express';
import { webhookMiddleware } from '@parley/sdk/express';
import type { RequestHandler } from 'express';
import express from 'express';
import { listen, projectSecret } from './server.js';
import { body, event, signedHeaders } from './signed.js';

/** Returns options that record what the middleware does. */
function recorder(options: Partial<WebhookOptions> = {}) {
  const events: WebhookEvent[] = [];
  const errors: unknown[] = [];
  const recording: WebhookOptions = {
    secrets: projectSecret,
    onEvent: (received) => void events.push(received),
    onError: (error) => errors.push(error),
    ...options,
  };
  return { events, errors, middleware: webhookMiddleware(recording) };
}

function application(...handlers: RequestHandler[]) {
  const app = express();
  app.use(...handlers);
  return app;
}

async function post(base: string, init: RequestInit = {}): Promise<[number, string]> {
  const response = await fetch(base, { method: 'POST', headers: await signedHeaders(body), body, ...init });
  return [response.status, await response.text()];
}

test('the middleware reads the raw body itself', async (t) => {
  const { events, middleware } = recorder();
  const base = await listen(t, application(middleware));
  assert.deepEqual(await post(base), [204, '']);
  assert.deepEqual(events, [event]);
});

test('the middleware takes the raw body of another parser', async (t) => {
  for (const parser of [express.raw({ type: '*/*' }), express.text({ type: '*/*' })]) {
    const { events, middleware } = recorder();
    const base = await listen(t, application(parser, middleware));
    assert.deepEqual(await post(base), [204, '']);
    assert.deepEqual(events, [event]);
  }
});

test('the middleware takes rawBody besides a parsed body', async (t) => {
  const { events, middleware } = recorder();
  const keep = (incoming: object, _response: unknown, raw: Buffer) => void Object.assign(incoming, { rawBody: raw });
  const base = await listen(t, application(express.json({ verify: keep }), middleware));
  assert.deepEqual(await post(base), [204, '']);
  assert.deepEqual(events, [event]);
});

test('the middleware works behind a parser of other types', async (t) => {
  const { events, middleware } = recorder();
  const base = await listen(t, application(express.urlencoded({ extended: false }), middleware));
  assert.deepEqual(await post(base), [204, '']);
  assert.equal(events.length, 1);
});

test('the middleware explains that another parser has consumed the body', async (t) => {
  const { events, errors, middleware } = recorder();
  const base = await listen(t, application(express.json(), middleware));
  const [status, text] = await post(base);
  assert.equal(status, 500);
  assert.match(text, /mount the middleware for webhooks before express\.json\(\)/);
  assert.match(String(errors[0]), /mount the middleware for webhooks before express\.json\(\)/);
  assert.equal(events.length, 0);
});

test('the middleware refuses a body that was changed', async (t) => {
  const { events, errors, middleware } = recorder();
  const base = await listen(t, application(middleware));
  assert.deepEqual(await post(base, { body: `${body} ` }), [401, 'no signature matches']);
  assert.deepEqual([events, errors], [[], []]);
});

test('an exception of onEvent is a 500, whatever it says', async (t) => {
  const failure = Object.assign(new Error('secret of ours'), { status: 410 });
  const onEvent = () => {
    throw failure;
  };
  const { errors, middleware } = recorder({ onEvent });
  const base = await listen(t, application(middleware));
  assert.deepEqual(await post(base), [500, 'the event could not be processed']);
  assert.deepEqual(errors, [failure]);
});

test('the middleware refuses other methods and large bodies', async (t) => {
  const base = await listen(t, application(recorder().middleware));
  const get = await fetch(base);
  assert.deepEqual([get.status, get.headers.get('allow')], [405, 'POST']);
  assert.equal((await post(base, { body: 'x'.repeat(1024 * 1024 + 1) }))[0], 413);
});

test('the middleware gives up when the sender goes away', async (t) => {
  const { events, middleware } = recorder();
  let finished: () => void = () => {};
  const over = new Promise<void>((resolve) => {
    finished = resolve;
  });
  const base = await listen(t, (incoming, response) => void middleware(incoming, response).then(finished));
  const outgoing = sendRequest(base, { method: 'POST', headers: { 'content-length': '1000' } });
  outgoing.on('error', () => {});
  outgoing.write('{', () => setTimeout(() => outgoing.destroy(), 20));
  await over;
  assert.equal(events.length, 0);
});
