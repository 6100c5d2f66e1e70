import { checkIdempotencyKey, checkObject, encodeBody, invalid } from './arguments.js';
import type { Signer } from './credentials.js';
import type { ApiResponse } from './response.js';
import { splitHeader } from './response.js';
import type { Shape } from './shape.js';
import { mismatch } from './shape.js';
import type { Call, Transport } from './transport.js';
import type { WithRequestsUsed } from './types/gateway.js';
import type { CallOptions, WithFieldReport, WithRequestId } from './types/rooms.js';

/** A response and its decoded body. */
export interface Decoded<Body> {
  response: ApiResponse;
  body: Body;
}

const json = 'application/json';

/** Sends a signed GET and decodes the response. */
export function get<Body>(
  transport: Transport,
  target: string,
  shape: Shape,
  options: CallOptions | undefined,
): Promise<Decoded<Body>> {
  return decoded(
    transport,
    { method: 'GET', target, accept: json, signer: 'gateway', repeatable: true },
    shape,
    options,
  );
}

/** Sends a GET for a text: CSV, or a description of the API. */
export async function getText(
  transport: Transport,
  call: { target: string; accept: string; signer: Signer },
  options: CallOptions | undefined,
): Promise<ApiResponse> {
  const response = await transport.send({ ...call, method: 'GET', repeatable: true }, options?.signal);
  if (/^text\/html\b/i.test(response.headers.get('content-type') ?? '')) {
    throw response.unexpected('the response is a page instead of a document of the API');
  }
  return response;
}

/** How a request with a body is signed and repeated. */
export interface Sending {
  method?: 'POST' | 'PUT';
  signer: Signer;
  /** Whether the call may be repeated without an idempotency key. */
  repeatable?: boolean;
  retryWindow?: number;
}

/** Sends the arguments of a call as a JSON body, without the idempotency key, which is a header. */
export async function send<Body>(
  transport: Transport,
  target: string,
  values: object,
  shape: Shape,
  sending: Sending,
  options: CallOptions | undefined,
): Promise<Decoded<Body>> {
  const { idempotency_key, ...fields } = checkObject(values) as { idempotency_key?: unknown; client_room_id?: unknown };
  const idempotencyKey = checkIdempotencyKey(idempotency_key);
  const call: Call = {
    method: 'POST',
    ...sending,
    target,
    accept: json,
    body: encodeBody(fields),
    idempotencyKey,
    clientRoomId: Boolean(fields.client_room_id),
    repeatable: sending.repeatable || idempotencyKey !== undefined,
  };
  return decoded(transport, call, shape, options);
}

/**
 * Sends a creation. It may be repeated only if the server can recognize the repetition by an idempotency key or a
 * client_room_id.
 */
export async function create<Body extends object>(
  transport: Transport,
  target: string,
  room: object,
  shape: Shape,
  options: CallOptions | undefined,
): Promise<Body & WithFieldReport & WithRequestId> {
  const { project_id = transport.projectId, ...fields } = checkObject(room) as { project_id?: unknown };
  if (project_id !== transport.projectId) throw invalid('project_id must be left out: the client adds its own');
  const repeatable = Boolean((fields as { client_room_id?: unknown }).client_room_id);
  const values = { project_id, ...fields };
  return withFieldReport(
    await send<Body>(transport, target, values, shape, { signer: 'project', repeatable }, options),
  );
}

/** Adds the ID of the request to a response. */
export function withRequestId<Body extends object>({ body, response }: Decoded<Body>): Body & WithRequestId {
  return { ...body, request_id: response.request_id };
}

/** Adds the ID of the request to a response, and what its headers say about the fields of the request. */
export function withFieldReport<Body extends object>(decoded: Decoded<Body>): Body & WithFieldReport & WithRequestId {
  const { headers } = decoded.response;
  return {
    ...withRequestId(decoded),
    ignored_fields: splitHeader(headers, 'x-ignored-fields'),
    features_adjusted: splitHeader(headers, 'x-feature-adjusted'),
  };
}

/** Reads the data of version 5. */
export async function getData<Data extends object>(
  transport: Transport,
  target: string,
  shape: Shape,
  options: CallOptions | undefined,
): Promise<Data & WithRequestsUsed> {
  const { response, body } = await get<{ data: Data }>(transport, target, shape, options);
  const used = response.headers.get('x-gateway-requests-used') ?? '';
  const requests_used = /^\d+$/.test(used) ? Number(used) : null;
  return { ...withRequestId({ response, body: body.data }), requests_used };
}

async function decoded<Body>(
  transport: Transport,
  call: Call,
  shape: Shape,
  options: CallOptions | undefined,
): Promise<Decoded<Body>> {
  const response = await transport.send(call, options?.signal);
  const body = response.json();
  const path = mismatch(body, shape);
  if (path === '') throw response.unexpected('the response is not a JSON object');
  if (path) throw response.unexpected(`the field ${path} of the response is missing or not as documented`);
  return { response, body: body as Body };
}
