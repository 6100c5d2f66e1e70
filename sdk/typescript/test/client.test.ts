import assert from 'node:assert/strict';
import { test } from 'node:test';
import { format, inspect } from 'node:util';
import type { ClientOptions } from '@parley/sdk';
import { InvalidArgumentError, MissingCredentialError, ParleyClient, UnexpectedResponseError } from '@parley/sdk';
import { apiKey, connect, credentials, gatewaySecret, projectSecret, quickRoom, rejection, roomId } from './server.js';

const base_url = 'https://meet.example.org';

function refusal(options: object): string {
  try {
    new ParleyClient(options as ClientOptions);
  } catch (error) {
    assert.ok(error instanceof InvalidArgumentError);
    assert.deepEqual([error.attempts, error.status, error.remedy], [0, null, '']);
    return error.message;
  }
  throw new Error(`got a client for ${inspect(options)}, want an error`);
}

test('a bad base_url is refused, and not repeated', () => {
  for (const url of [
    undefined,
    null,
    5,
    '',
    'meet.example.org',
    '//meet.example.org',
    'ftp://meet.example.org',
    'https:meet.example.org',
    'https:/meet.example.org',
    'https:\\\\meet.example.org',
    ' https://meet.example.org',
    'https://meet.example.org ',
    'https://meet.example.org\n',
    'https://meet.example.org/\n',
    'https://',
    'https:///',
    'https://meet.example.org:port',
    'https://meet.example.org/api',
    'https://meet.example.org//',
    'https://meet.example.org?',
    'https://meet.example.org#',
    'https://meet.example.org\\api',
    'https://user:hunter2@meet.example.org',
    'https://@meet.example.org',
  ]) {
    const message = refusal({ base_url: url });
    assert.match(message, /^base_url /);
    assert.doesNotMatch(message, /hunter2|meet\.example/);
  }
});

test('a good base_url is accepted', () => {
  for (const [url, expected] of [
    ['https://meet.example.org', base_url],
    ['https://meet.example.org/', base_url],
    ['HTTPS://MEET.example.org', base_url],
    ['http://127.0.0.1:8080', 'http://127.0.0.1:8080'],
    ['http://[::1]:8080/', 'http://[::1]:8080'],
  ]) {
    assert.equal(new ParleyClient({ base_url: url ?? '' }).toJSON().base_url, expected);
  }
});

test('a bad option is refused', () => {
  for (const [options, message] of [
    [undefined, /object with base_url/],
    [{ base_url, timeout: 0 }, /^timeout /],
    [{ base_url, timeout: Number.NaN }, /^timeout /],
    [{ base_url, timeout: 86_401 }, /^timeout /],
    [{ base_url, timeout: '30' }, /^timeout /],
    [{ base_url, max_attempts: 0 }, /^max_attempts /],
    [{ base_url, max_attempts: 1.5 }, /^max_attempts /],
    [{ base_url, version: 5 }, /^version /],
    [{ base_url, user_agent: 'a\nb' }, /^user_agent /],
    [{ base_url, user_agent: '' }, /^user_agent /],
    [{ base_url, api_key: 5 }, /^api_key must be a string/],
  ] as const) {
    assert.match(refusal(options as object), message);
  }
});

test('a credential with another character or of another kind is refused, and not repeated', () => {
  for (const [options, message] of [
    [
      { gateway_secret: 'gs_abc\n' },
      'gateway_secret must be printable ASCII without spaces, but has another character at position 7',
    ],
    [{ api_key: ' pk_abc' }, 'api_key must be printable ASCII without spaces, but has another character at position 1'],
    [
      { project_secret: 'whsec_é' },
      'project_secret must be printable ASCII without spaces, but has another character at position 7',
    ],
    [{ gateway_secret: 'whsec_abc' }, 'gateway_secret begins with whsec_, so it is a project secret'],
    [{ project_secret: 'pk_abc' }, 'project_secret begins with pk_, so it is an API key'],
    [{ api_key: 'gs_abc' }, 'api_key begins with gs_, so it is a Gateway secret'],
    [{ project_id: 'pk_abc' }, 'project_id begins with pk_, so it is an API key'],
  ] as const) {
    assert.equal(refusal({ base_url, ...options }), message);
  }
});

test('a client is created with the settings of the environment', async (t) => {
  const { base_url: url, requests } = await connect(t, () => ({ body: { room_id: roomId, final_link: 'https://x/' } }));
  const before = { ...process.env };
  t.after(() => {
    process.env = before;
  });
  delete process.env.PARLEY_URL;
  assert.throws(() => ParleyClient.fromEnvironment(), { kind: 'invalid_argument', message: /PARLEY_URL/ });
  process.env.PARLEY_URL = url;
  for (const [name, value] of Object.entries(credentials)) process.env[`PARLEY_${name.toUpperCase()}`] = value;
  const client = ParleyClient.fromEnvironment({ version: 3 });
  await client.createQuickAudioRoom(quickRoom);
  await client.startScheduledRoom({ room_id: roomId, name: 'Amina' });
  assert.deepEqual(
    requests.map(({ target }) => target),
    ['/api/v3/rooms/create_quick_audio_room', '/api/v3/rooms/start_schedule_room'],
  );
});

test('an empty credential is a missing one', async () => {
  const client = new ParleyClient({ base_url, project_id: '', api_key: apiKey });
  const creation = await rejection(client.createQuickAudioRoom(quickRoom), MissingCredentialError);
  assert.equal(creation.remedy, 'Pass project_id to the client.');
  const reading = await rejection(client.usage(), MissingCredentialError);
  assert.equal(String(reading), 'the call needs gateway_secret\nPass gateway_secret to the client.');
});

test('a bad argument is refused, and nothing is sent', async (t) => {
  const { client, requests } = await connect(t, () => ({}));
  const wrong = client as unknown as Record<string, (values?: unknown) => Promise<unknown>>;
  for (const [method, values] of [
    ['createQuickVideoRoom', undefined],
    ['createQuickVideoRoom', 'Standup'],
    ['createQuickVideoRoom', { ...quickRoom, project_id: 'another' }],
    ['createQuickVideoRoom', { ...quickRoom, max_participants: 10n }],
    ['createQuickVideoRoom', { ...quickRoom, idempotency_key: '' }],
    ['createQuickVideoRoom', { ...quickRoom, idempotency_key: ' order' }],
    ['createQuickVideoRoom', { ...quickRoom, idempotency_key: 'order ' }],
    ['createQuickVideoRoom', { ...quickRoom, idempotency_key: 'é' }],
    ['createQuickVideoRoom', { ...quickRoom, idempotency_key: 5 }],
    ['updateProjectStatus', 'active'],
    ['endRoom', roomId],
    ['endRoom', undefined],
    ['joinRoom', { user_info: { name: 'Bela' } }],
    ['activeRoom', { room_id: '' }],
    ['exportAttendance', {}],
    ['sendJoinEvent', { room_id: '.', name: 'Bela' }],
    ['sendJoinEvent', { room_id: '\ud800', name: 'Bela' }],
    ['openapi', { version: 2 }],
    ['openapi', undefined],
  ] as const) {
    await rejection(wrong[method]?.call(client, values) ?? Promise.resolve(), InvalidArgumentError);
  }
  assert.equal(requests.length, 0);
});

test('a field that JSON does not have is named, and nothing is sent', async (t) => {
  const { client, requests } = await connect(t, () => ({}));
  const circle: Record<string, unknown> = {};
  circle.self = [circle];
  const json = 'must be a value that JSON has, not a';
  const late = { toJSON: () => ({ at: Number.NaN }) };
  for (const [fields, message] of [
    [{ name: 'Zo\ud83d' }, 'name must be well-formed Unicode'],
    [{ metadata: { room_title: '\udfff' } }, 'metadata.room_title must be well-formed Unicode'],
    [{ metadata: { '\udfff': 1 } }, /^metadata\.. must have a name in well-formed Unicode$/],
    [{ max_participants: Number.NaN }, 'max_participants must be a finite number'],
    [{ max_participants: 10n }, `max_participants ${json} bigint`],
    [{ metadata: () => undefined }, `metadata ${json} function`],
    [{ metadata: { tags: ['a', { b: Symbol('c') }] } }, `metadata.tags[1].b ${json} symbol`],
    [{ metadata: late }, 'metadata.at must be a finite number'],
    [{ metadata: { at: new Date(Number.NaN) } }, 'metadata.at must be a valid date'],
    [{ metadata: { tags: ['a', undefined] } }, 'metadata.tags[1] must not be undefined'],
    [{ metadata: circle }, /^metadata\.self\[0\] cannot be written as JSON/],
  ] as const) {
    const room = { ...quickRoom, ...(fields as object) };
    const error = await rejection(client.createQuickVideoRoom(room), InvalidArgumentError);
    if (typeof message === 'string') assert.equal(error.message, message);
    else assert.match(error.message, message);
  }
  const people = [{ name: 'Amina' }, { name: '\ud83d' }];
  const simulation = await rejection(client.simulateMeeting({ room_id: roomId, people }), InvalidArgumentError);
  assert.equal(simulation.message, 'people[1].name must be well-formed Unicode');
  const event = await rejection(client.sendJoinEvent({ room_id: roomId, name: '\ud83d' }), InvalidArgumentError);
  assert.equal(event.message, 'user_info.name must be well-formed Unicode');
  const state = '\ud83d' as 'ended';
  const list = await rejection(client.rooms({ state }).next(), InvalidArgumentError);
  assert.equal(list.message, 'state must be well-formed Unicode');
  assert.equal(requests.length, 0);
});

test('a room_id that cannot be one is named, and nothing is sent', async (t) => {
  const { client, requests } = await connect(t, () => ({}));
  const calls = client as unknown as Record<string, (values: unknown) => unknown>;
  for (const method of [
    ...['startScheduledRoom', 'joinRoom', 'createInvitationLink', 'simulateMeeting', 'rescheduleRoom', 'endRoom'],
    ...['roomStatus', 'activeRoom', 'analytics', 'exportAttendance', 'roomEvents', 'sendJoinEvent', 'signJoinLink'],
  ]) {
    for (const [room_id, message] of [
      ['', 'room_id must be a string that is not empty'],
      [undefined, 'room_id must be a string that is not empty'],
      ['a\ud800', 'room_id must be well-formed Unicode'],
    ]) {
      const returned = calls[method]?.call(client, { room_id });
      const result = method === 'roomEvents' ? (returned as AsyncGenerator).next() : (returned as Promise<unknown>);
      assert.equal((await rejection(result, InvalidArgumentError)).message, message, method);
    }
  }
  assert.equal(requests.length, 0);
});

test('shared and optional values are sent', async (t) => {
  const { client, requests } = await connect(t, () => ({ body: { room_id: roomId, people: 2, seconds: 10 } }));
  const person = { name: '🎉', client_user_id: undefined };
  await client.simulateMeeting({ room_id: roomId, people: [person, person] });
  assert.equal(requests[0]?.body, `{"room_id":"${roomId}","people":[{"name":"🎉"},{"name":"🎉"}]}`);
});

test('a body is sent as it was passed', async (t) => {
  const { client, requests } = await connect(t, () => ({ body: { room_id: roomId, final_link: 'https://x/' } }));
  const values = { ...quickRoom, client_room_id: undefined, name: '<Zoë> 🚪\u2028' };
  const room = await client.createQuickVideoRoom(values);
  assert.equal(requests[0]?.body.includes('"name":"<Zoë> 🚪\u2028"'), true);
  assert.equal(requests[0]?.body.includes('client_room_id'), false);
  assert.deepEqual([room.ignored_fields, room.features_adjusted, room.request_id], [[], [], 'req_1']);
});

test('the target is signed and sent in the same form', async (t) => {
  const { client, requests } = await connect(t, () => ({ body: { status: true, message: 'm' } }));
  await client.roomStatus({ room_id: "a'b c~*()é/+" });
  assert.equal(requests[0]?.target, '/api/v4/rooms/room_status?room_id=a%27b+c%7E*%28%29%C3%A9%2F%2B');
});

test('the export keeps its byte order mark', async (t) => {
  const { client } = await connect(t, () => ({ body: '\ufeffroom_id\r\n', headers: { 'Content-Type': 'text/csv' } }));
  assert.equal(await client.exportAttendance({ room_id: roomId }), '\ufeffroom_id\r\n');
});

test('a page is not a text of the API', async (t) => {
  const { client } = await connect(t, () => ({ body: '<html>', headers: { 'Content-Type': 'text/html' } }));
  await rejection(client.exportAttendance({ room_id: roomId }), UnexpectedResponseError);
  await rejection(client.openapi({ version: 4 }), UnexpectedResponseError);
});

test('a description of version 5 is JSON', async (t) => {
  const { client } = await connect(t, () => ({ body: 'openapi: 3.1.0' }));
  await rejection(client.openapi({ version: 5 }), UnexpectedResponseError);
});

test('an undocumented response names the field', async (t) => {
  for (const [body, message] of [
    ['<html>', 'the response is not valid JSON'],
    ['', 'the response is not valid JSON'],
    [[], 'the response is not a JSON object'],
    [{}, 'the field response of the response is missing or not as documented'],
    [{ response: { rooms: {} } }, 'the field response.rooms of the response is missing or not as documented'],
    [
      { response: { rooms: [{ room_info: {}, participants_info: [] }] } },
      'the field response.rooms[0].room_info.room_id of the response is missing or not as documented',
    ],
    [{ response: { rooms: [5] } }, 'the field response.rooms[0] of the response is missing or not as documented'],
  ] as const) {
    const { client } = await connect(t, () => ({ body }));
    assert.equal((await rejection(client.activeRooms(), UnexpectedResponseError)).message, message);
  }
});

test('printing a client shows no secret', () => {
  const client = new ParleyClient({ base_url, ...credentials });
  const deep = { depth: 20, showHidden: true, getters: true };
  const printed = [
    String(client),
    `${client}`,
    JSON.stringify({ client }),
    JSON.stringify(Object.entries(client)),
    JSON.stringify(structuredClone(client)),
    inspect(client, deep),
    inspect({ client }, { ...deep, customInspect: false }),
    format('%s %o %O %j', client, client, client, client),
    inspect(Object.getOwnPropertyDescriptors(client), deep),
  ].join('\n');
  for (const secret of [projectSecret, apiKey, gatewaySecret]) assert.equal(printed.includes(secret.slice(8)), false);
  assert.match(printed, /ParleyClient of https:\/\/meet\.example\.org, project "0197c9b4-/);
});
