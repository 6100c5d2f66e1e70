import { probeConnections } from './probeConnections';
import type { components, paths } from './schema.gen';

type Schemas = components['schemas'];
export type Preview = Schemas['Preview'];
export type Seat = Schemas['Seat'];
export type Role = Schemas['Role'];
export type RoomType = Schemas['RoomType'];
export type People = Schemas['People'];
export type Waiting = Schemas['Waiting'];
export type ErrorCode = Schemas['Error']['error']['code'];
export type EndReason = NonNullable<Schemas['Error']['error']['reason']>;

/** Why the server refused a call. */
export interface CallError {
  code: ErrorCode;
  reason: EndReason | null;
  /** The room's title, if it has ended and everybody may read the title. */
  title: string | null;
  /** The number of seats of a full room, if the server says it. */
  maxParticipants: number | null;
  /** From Retry-After; 0 when the header is missing. */
  waitMs: number;
}

/** A path below /rooms/{room_id}/ in the description of the API. */
export type Call = { [P in keyof paths]: P extends `/rooms/{room_id}/${infer Name}` ? Name : never }[keyof paths];
type Operation<C extends Call> = paths[`/rooms/{room_id}/${C}`]['post'];
export type Body<C extends Call> = Operation<C>['requestBody']['content']['application/json'];
type Responses<C extends Call> = Operation<C>['responses'];
/** The body of a successful response; null if it has none. */
export type Value<C extends Call> = {
  [Status in keyof Responses<C> & (200 | 202 | 204)]: Responses<C>[Status] extends { content: { 'application/json': infer T } } ? T : null;
}[keyof Responses<C> & (200 | 202 | 204)];

export interface CallOptions {
  signal?: AbortSignal;
  timeoutMs?: number;
  /** The request is sent even if the page is closed meanwhile. */
  keepalive?: boolean;
}

export type Result<T> =
  | { is: 'ok'; value: T }
  | { is: 'refused'; error: CallError }
  /** No response, or a response that asks to try again later. */
  | { is: 'unreachable'; waitMs: number };

/** Errors that end after some time. */
const timedErrors: ErrorCode[] = ['too_many_attempts', 'too_many_joins', 'turned_away'];

/** The wait for such an error when the response has no Retry-After. */
const defaultWaitMs = 30_000;

/** A server that takes longer than this counts as unreachable. */
export const requestTimeoutMs = 8_000;

export class JoinApi {
  readonly #base: string;
  readonly #fetch: typeof fetch;

  constructor(roomId: string, fetcher: typeof fetch = (...request) => fetch(...request)) {
    this.#base = `/api/join/rooms/${encodeURIComponent(roomId)}`;
    this.#fetch = fetcher;
  }

  async call<C extends Call>(
    call: C,
    body: Body<C>,
    { signal, timeoutMs = requestTimeoutMs, keepalive = false }: CallOptions = {},
  ): Promise<Result<Value<C>>> {
    const abort = new AbortController();
    const stop = (): void => abort.abort();
    let timedOut = false;
    const timer = setTimeout(() => {
      timedOut = true;
      stop();
    }, timeoutMs);
    signal?.addEventListener('abort', stop);
    try {
      const response = await this.#fetch(`${this.#base}/${call}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(body),
        cache: 'no-store',
        referrerPolicy: 'no-referrer',
        signal: abort.signal,
        keepalive,
      });
      if (response.ok) return { is: 'ok', value: (response.status === 204 ? null : await response.json()) as Value<C> };
      const waitMs = retryAfter(response.headers.get('retry-after'), Date.now());
      const error = readError(await response.json().catch(() => null), waitMs);
      // The error page of a proxy and an internal error are both temporary.
      if (!error || error.code === 'unavailable' || error.code === 'internal') return { is: 'unreachable', waitMs };
      return { is: 'refused', error };
    } catch {
      if (timedOut && !keepalive) await probeConnections(this.#fetch);
      return { is: 'unreachable', waitMs: 0 };
    } finally {
      clearTimeout(timer);
      signal?.removeEventListener('abort', stop);
    }
  }
}

/** Parses Retry-After, which is either seconds or a date in one of three forms (RFC 9110), into milliseconds. */
export function retryAfter(header: string | null, now: number): number {
  if (header === null) return 0;
  const seconds = Number(header);
  // The form without a time zone is in UTC, too.
  const ms = Number.isFinite(seconds) ? seconds * 1000 : Date.parse(/GMT$/i.test(header) ? header : `${header} GMT`) - now;
  return Number.isFinite(ms) ? Math.max(0, ms) : 0;
}

function readError(body: unknown, waitMs: number): CallError | null {
  if (typeof body !== 'object' || body === null || !('error' in body)) return null;
  const { error } = body as { error?: Partial<Schemas['Error']['error']> };
  if (typeof error?.code !== 'string') return null;
  const { code, reason = null, title = null, max_participants: maxParticipants = null } = error;
  return { code, reason, title, maxParticipants, waitMs: timedErrors.includes(code) ? waitMs || defaultWaitMs : waitMs };
}
