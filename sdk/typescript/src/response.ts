import { concatenate } from './encoding.js';
import { UnexpectedResponseError } from './errors.js';
import { parseHttpDate } from './httpDate.js';
import { remedyFor } from './remedy.js';

/** The path of the list of active rooms, which has no pages. */
export const activeRoomsPath = '/rooms/get_active_rooms_info';

/** Returns the maximum size of a response in MiB. */
export const maxResponse = (target: string): number => (target.endsWith(activeRoomsPath) ? 64 : 4);

/** A response with the status 200. */
export class ApiResponse {
  readonly headers: Headers;
  /** Empty if the response has no ID. */
  readonly request_id: string;
  /** Which attempt of the call got this response, from 1. */
  readonly attempts: number;
  readonly #body: Uint8Array;

  constructor(headers: Headers, request_id: string, attempts: number, body: Uint8Array) {
    this.headers = headers;
    this.request_id = request_id;
    this.attempts = attempts;
    this.#body = body;
  }

  /** Returns the body as it was sent, including a byte order mark. */
  text(): string {
    return new TextDecoder('utf-8', { ignoreBOM: true }).decode(this.#body);
  }

  /** Parses the body as JSON. */
  json(): unknown {
    try {
      return JSON.parse(this.text());
    } catch {
      throw this.unexpected('the response is not valid JSON');
    }
  }

  /** Returns the error for a response that the API does not document. */
  unexpected(message: string): UnexpectedResponseError {
    return unexpectedResponse(200, this.request_id, this.attempts, message);
  }
}

/** Returns the error for a response that the API does not document. */
export function unexpectedResponse(
  status: number,
  request_id: string,
  attempts: number,
  message: string,
): UnexpectedResponseError {
  const remedy = remedyFor({ status, request_id });
  return new UnexpectedResponseError({ status, request_id, attempts, message, remedy });
}

/** Returns the ID that the server gave to a request; empty if there is none. */
export function requestId(headers: Headers): string {
  return headers.get('x-gateway-request-id') || headers.get('x-request-id') || '';
}

/** Returns the names in a header, which are separated by commas. */
export function splitHeader(headers: Headers, name: string): string[] {
  const items = (headers.get(name) ?? '').split(',').map((item) => item.trim());
  return items.filter((item) => item !== '');
}

/**
 * Parses Retry-After in both of its forms, seconds and a date. A date is compared with the clock of the server. Returns
 * 0 to 86,400 seconds, or null without a usable header.
 */
export function retryAfter(headers: Headers): number | null {
  const text = headers.get('retry-after') ?? '';
  const aDay = 24 * 60 * 60;
  if (/^[+-]?\d+$/.test(text)) return Math.min(Math.max(Number(text), 0), aDay);
  const until = parseHttpDate(text);
  if (until === null) return null;
  const now = parseHttpDate(headers.get('date') ?? '') ?? Date.now();
  return Math.min(Math.max(Math.ceil((until - now) / 1000), 0), aDay);
}

/** Reads a body of a success. Returns null if it is larger than `limit` MiB; the rest is then not read. */
export async function readBody(response: Response, limit: number): Promise<Uint8Array | null> {
  const { body, complete } = await readUpTo(response, limit * 1024 * 1024);
  return complete ? body : null;
}

/** A request or a response. */
type BodySource = Pick<Body, 'body'>;

/** Reads at most the first `limit` bytes of a body. */
export async function readUpTo(source: BodySource, limit: number): Promise<{ body: Uint8Array; complete: boolean }> {
  if (!source.body) return { body: new Uint8Array(), complete: true };
  const reader = source.body.getReader();
  const chunks: Uint8Array[] = [];
  let size = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return { body: concatenate(chunks), complete: true };
    size += value.byteLength;
    chunks.push(value);
    if (size > limit) {
      discard(reader);
      return { body: concatenate(chunks).subarray(0, limit), complete: false };
    }
  }
}

/** Stops reading a body, so that its connection is released. A failure is of no interest, because nobody reads it. */
export function discard(body: Pick<ReadableStream, 'cancel'> | null): void {
  body?.cancel().catch(() => {});
}
