import assert from 'node:assert/strict';
import { test } from 'node:test';
import { inspect } from 'node:util';
import { ConnectionError, ForbiddenError, InvalidRequestError, ParleyError, ServerError } from '@parley/sdk';
import { apiKey, connect, gatewaySecret, projectSecret, quickRoom, rejection } from './server.js';

const inactive = { status: 403, body: { error: 'the project is inactive' } };
const text = '403: the project is inactive (request req_1)\nActivate the project with update_project_status.';

test('an error has its sentence in message, and all in its text and its stack', async (t) => {
  const { client } = await connect(t, () => inactive);
  const error = await rejection(client.createQuickVideoRoom(quickRoom), ForbiddenError);
  assert.ok(error instanceof ParleyError && error instanceof Error);
  assert.equal(error.message, 'the project is inactive');
  assert.equal(String(error), text);
  assert.ok(error.stack?.startsWith(`ForbiddenError: ${text}\n`));
  assert.ok(inspect(error).includes(text));
});

test('the JSON of an error has all fields', async (t) => {
  const { client } = await connect(t, () => inactive);
  const error = await rejection(client.createQuickVideoRoom(quickRoom), ForbiddenError);
  assert.deepEqual(JSON.parse(JSON.stringify(error)), {
    kind: 'forbidden',
    status: 403,
    code: '',
    message: 'the project is inactive',
    request_id: 'req_1',
    retry_after: null,
    attempts: 1,
    remedy: 'Activate the project with update_project_status.',
  });
});

test('the text of a version 5 error has the code', async (t) => {
  const body = { error: { code: 'SVC_INVALID_REQUEST', message: 'limit must be a number', request_id: 'r1' } };
  const { client } = await connect(t, () => ({ status: 400, body }));
  const error = await rejection(client.keys(), InvalidRequestError);
  assert.equal(String(error), '400 SVC_INVALID_REQUEST: limit must be a number (request r1)');
});

test('an error shows no secret that a server repeats', async (t) => {
  for (const secret of [projectSecret, apiKey, gatewaySecret]) {
    const { client } = await connect(t, () => ({
      status: 400,
      body: { error: { code: secret, message: `${secret} and ${secret}` } },
      headers: { 'X-Request-ID': secret },
    }));
    const error = await rejection(client.keys(), InvalidRequestError);
    assert.equal(error.message, '[redacted] and [redacted]');
    const printed = [String(error), error.stack, JSON.stringify(error), inspect(error, { showHidden: true })].join();
    assert.equal(printed.includes(secret), false);
  }
});

test('the error of a lost connection shows no secret', async (t) => {
  const { client } = await connect(t, (_request, response) => {
    response.destroy();
    return undefined;
  });
  const error = await rejection(client.createQuickVideoRoom(quickRoom), ConnectionError);
  const printed = [String(error), JSON.stringify(error), inspect(error, { depth: 20, showHidden: true })].join();
  for (const secret of [projectSecret, apiKey, gatewaySecret]) assert.equal(printed.includes(secret), false);
});

test('a body in no documented form is ignored', async (t) => {
  for (const body of ['<html>', '"error"', 'null', '{"error":["a"]}', '{"error":{"message":5}}', '{"error":""}']) {
    const { client } = await connect(t, () => ({ status: 405, body }));
    const error = await rejection(client.keys(), ServerError);
    assert.deepEqual([error.message, error.code], ['Method Not Allowed', ''], body);
  }
});

test('a status without a name is still shown', async (t) => {
  const { client } = await connect(t, () => ({ status: 599, body: '' }));
  assert.equal(String(await rejection(client.keys(), ServerError)), '599: HTTP status 599 (request req_1)');
});

test('a message is cut between characters', async (t) => {
  for (const [message, length] of [
    ['🚪'.repeat(500), 500],
    [`${'a'.repeat(499)}🚪b`, 500],
    ['é'.repeat(9999), 500],
  ] as const) {
    const { client } = await connect(t, () => ({ status: 400, body: { error: message } }));
    const error = await rejection(client.keys(), InvalidRequestError);
    assert.equal([...error.message].length, length);
    assert.equal(/\p{Surrogate}/u.test(error.message), false);
    assert.equal(error.message.endsWith('…'), [...message].length > 500);
  }
});
