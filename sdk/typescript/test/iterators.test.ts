import assert from 'node:assert/strict';
import { test } from 'node:test';
import { InvalidArgumentError, UnexpectedResponseError } from '@parley/sdk';
import type { Reply } from './server.js';
import { connect, rejection, roomId } from './server.js';

/** Returns a page of two rooms with numbers. */
function page(number: number): Reply {
  const rooms = [0, 1].map((index) => ({ room_id: `room-${2 * number + index}`, state: 'ended' }));
  return { body: { rooms, next_cursor: `cursor-${number}` } };
}

test('an iterator that is left early reads no further page', async (t) => {
  const { client, requests } = await connect(t, (_request, _response, number) => page(number));
  const seen: string[] = [];
  for await (const room of client.rooms()) {
    seen.push(room.room_id);
    if (seen.length === 3) break;
  }
  assert.deepEqual(seen, ['room-2', 'room-3', 'room-4']);
  assert.equal(requests.length, 2);
});

test('an iterator sends nothing before its first step', async (t) => {
  const { client, requests } = await connect(t, (_request, _response, number) => page(number));
  const rooms = client.rooms({ state: 'ended' });
  assert.equal(requests.length, 0);
  assert.equal((await rooms.next()).value?.room_id, 'room-2');
  await rooms.return();
  assert.deepEqual(await rooms.next(), { done: true, value: undefined });
  assert.equal(requests.length, 1);
});

test('an iterator ends with the first error', async (t) => {
  const { client } = await connect(t, (_request, _response, number) =>
    number === 1 ? page(1) : { status: 500, body: { error: 'internal error' } },
  );
  const seen: string[] = [];
  await assert.rejects(
    async () => {
      for await (const room of client.rooms()) seen.push(room.room_id);
    },
    { kind: 'server_error', request_id: 'req_2' },
  );
  assert.deepEqual(seen, ['room-2', 'room-3']);
});

test('an iterator can be aborted between two pages', async (t) => {
  const { client, requests } = await connect(t, (_request, _response, number) => page(number));
  const controller = new AbortController();
  const reason = new Error('enough');
  await assert.rejects(async () => {
    for await (const room of client.rooms({}, { signal: controller.signal })) {
      if (room.room_id === 'room-3') controller.abort(reason);
    }
  }, reason);
  assert.equal(requests.length, 1);
});

test('an iterator does not follow a cursor that repeats', async (t) => {
  const { client, requests } = await connect(t, () => page(1));
  const rooms = client.rooms();
  for (let step = 0; step < 4; step++) await rooms.next();
  await rejection(rooms.next(), UnexpectedResponseError);
  assert.equal(requests.length, 2);
});

test('the iterator over past rooms keeps the selection on every page', async (t) => {
  const { client, requests } = await connect(t, (_request, _response, number) => ({
    body: { rooms: { total_rooms: '5', rooms_list: [{ room_id: `room-${number}` }] } },
  }));
  const seen: string[] = [];
  for await (const room of client.allPastRooms({ from: 3, limit: 1, order_by: 'ASC' })) seen.push(room.room_id);
  assert.deepEqual(seen, ['room-1', 'room-2']);
  assert.deepEqual(
    requests.map(({ body }) => JSON.parse(body)),
    [
      { from: 3, limit: 1, order_by: 'ASC' },
      { from: 4, limit: 1, order_by: 'ASC' },
    ],
  );
});

test('iterators refuse bad arguments at their first step', async (t) => {
  const { client, requests } = await connect(t, () => page(1));
  for (const iterator of [
    client.roomEvents({ room_id: '' }),
    client.roomEvents({ room_id: '..' }),
    client.roomEvents({ room_id: roomId, after: -1 }),
    client.roomEvents({ room_id: roomId, after: 1.5 }),
    client.requests({ limit: 0 }),
    client.requests({ limit: '5' as unknown as number }),
    client.allPastRooms({ from: -1 }),
    client.rooms(null as unknown as object),
  ]) {
    await rejection(iterator.next(), InvalidArgumentError);
  }
  assert.equal(requests.length, 0);
});
