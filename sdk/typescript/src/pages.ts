import { checkInteger, checkObject, checkRoomId, checkText, pathSegment } from './arguments.js';
import type { Decoded } from './calls.js';
import { get, send } from './calls.js';
import * as shapes from './shapes.js';
import type { Transport } from './transport.js';
import type { RoomEvent } from './types/events.js';
import type { RequestItem, RequestsRequest } from './types/gateway.js';
import type {
  ListedRoom,
  PastRoom,
  PastRooms,
  PastRoomsRequest,
  RoomEventsRequest,
  RoomsRequest,
} from './types/meetings.js';
import type { CallOptions } from './types/rooms.js';

/** The maximum size of a page. */
const pageSize = 100;

/** Reads all pages of the list of rooms. */
export async function* listRooms(
  transport: Transport,
  api: string,
  selection: RoomsRequest,
  options: CallOptions | undefined,
): AsyncGenerator<ListedRoom, void, undefined> {
  const { state } = checkObject(selection);
  let cursor = '';
  for (;;) {
    const query = new URLSearchParams();
    if (cursor) query.set('cursor', cursor);
    query.set('limit', String(pageSize));
    if (state) query.set('state', checkText('state', state));
    const page = await get<{ rooms: ListedRoom[]; next_cursor?: string }>(
      transport,
      `${api}/rooms/list_rooms?${query}`,
      shapes.roomList,
      options,
    );
    yield* page.body.rooms;
    const { next_cursor } = page.body;
    if (!next_cursor) return;
    if (next_cursor === cursor) throw page.response.unexpected('next_cursor is the cursor of the same page');
    cursor = next_cursor;
  }
}

/** Reads a page of past rooms. */
export async function pastRoomsPage(
  transport: Transport,
  api: string,
  selection: PastRoomsRequest,
  options: CallOptions | undefined,
): Promise<Decoded<Omit<PastRooms, 'request_id'>>> {
  const target = `${api}/rooms/fetch_past_rooms`;
  const sending = { signer: 'gateway', repeatable: true } as const;
  const { response, body } = await send<{ rooms: Omit<PastRooms, 'request_id'> }>(
    transport,
    target,
    selection,
    shapes.pastRooms,
    sending,
    options,
  );
  return { response, body: body.rooms };
}

/** Reads all pages of the list of past rooms. */
export async function* listPastRooms(
  transport: Transport,
  api: string,
  selection: PastRoomsRequest,
  options: CallOptions | undefined,
): AsyncGenerator<PastRoom, void, undefined> {
  let from = checkInteger('from', checkObject(selection).from, 0) ?? 0;
  for (;;) {
    const page = from > 0 ? { ...selection, from } : selection;
    const { body } = await pastRoomsPage(transport, api, page, options);
    yield* body.rooms_list;
    from += body.rooms_list.length;
    if (body.rooms_list.length === 0 || from >= Number(body.total_rooms)) return;
  }
}

/** Reads all events of a room. */
export async function* listRoomEvents(
  transport: Transport,
  selection: RoomEventsRequest,
  options: CallOptions | undefined,
): AsyncGenerator<RoomEvent, void, undefined> {
  const room = pathSegment('room_id', checkRoomId(selection));
  let after = checkInteger('after', selection.after, 0) ?? 0;
  for (;;) {
    const page = await get<{ events: RoomEvent[]; next_after: number; has_more: boolean }>(
      transport,
      `/api/v4/rooms/${room}/events?after=${after}&limit=${pageSize}`,
      shapes.roomEvents,
      options,
    );
    const { events, next_after, has_more } = page.body;
    if (has_more && next_after <= after) throw page.response.unexpected('next_after does not increase');
    yield* events;
    if (!has_more) return;
    after = next_after;
  }
}

/** Reads all pages of the list of recent version 5 calls. */
export async function* listRequests(
  transport: Transport,
  selection: RequestsRequest,
  options: CallOptions | undefined,
): AsyncGenerator<RequestItem, void, undefined> {
  const limit = checkInteger('limit', checkObject(selection).limit, 1);
  let cursor = '';
  for (;;) {
    const parameters = new URLSearchParams();
    if (limit !== undefined) parameters.set('limit', String(limit));
    if (cursor) parameters.set('cursor', cursor);
    const query = String(parameters);
    const page = await get<{ data: { items: RequestItem[]; next_cursor?: string } }>(
      transport,
      `/api/v5/requests${query && `?${query}`}`,
      shapes.requests,
      options,
    );
    yield* page.body.data.items;
    const { next_cursor } = page.body.data;
    if (!next_cursor) return;
    if (next_cursor === cursor) throw page.response.unexpected('next_cursor is the cursor of the same page');
    cursor = next_cursor;
  }
}
