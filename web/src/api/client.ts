import { probeConnections } from './probeConnections';
import type { components } from './schema.gen';

type Schemas = components['schemas'];
export type Preview = Schemas['Preview'];
export type PreviewRequest = Schemas['PreviewRequest'];
export type Check = Schemas['Check'];
export type Seat = Schemas['Seat'];
export type Wait = Schemas['Wait'];
export type SeatRequest = Schemas['SeatRequest'];
export type Role = Schemas['Role'];
export type RoomType = Schemas['RoomType'];
export type BreakoutRequest = Schemas['BreakoutRequest'];
export type People = Schemas['People'];
export type Breakouts = Schemas['Breakouts'];
export type MoveRequest = Schemas['MoveRequest'];
export type BroadcastRequest = Schemas['BroadcastRequest'];
export type MuteRequest = Schemas['MuteRequest'];
export type PersonRequest = Schemas['PersonRequest'];
export type LockRequest = Schemas['LockRequest'];
export type RoleRequest = Schemas['RoleRequest'];
export type LowerHandRequest = Schemas['LowerHandRequest'];
export type ReactRequest = Schemas['ReactRequest'];
export type FeedbackRequest = Schemas['FeedbackRequest'];
export type Waiting = Schemas['Waiting'];
export type AdmitRequest = Schemas['AdmitRequest'];
export type InvitationRequest = Schemas['InvitationRequest'];
export type Invitation = Schemas['Invitation'];
type SeatKey = Schemas['SeatKey'];
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

  preview(body: PreviewRequest, signal: AbortSignal): Promise<Result<Preview>> {
    return this.#post<Preview>('preview', body, { signal });
  }

  preflight(body: PreviewRequest): Promise<Result<Check>> {
    return this.#post<Check>('check', body);
  }

  reserveSeat(body: SeatRequest, signal: AbortSignal, timeoutMs: number): Promise<Result<Seat | Wait>> {
    return this.#post<Seat | Wait>('seats', body, { signal, timeoutMs });
  }

  end(body: SeatKey): Promise<Result<null>> {
    return this.#post<null>('end', body);
  }

  openBreakouts(body: BreakoutRequest): Promise<Result<Breakouts>> {
    return this.#post<Breakouts>('breakouts', body);
  }

  closeBreakouts(body: SeatKey): Promise<Result<null>> {
    return this.#post<null>('breakouts/close', body);
  }

  move(body: MoveRequest): Promise<Result<null>> {
    return this.#post<null>('move', body);
  }

  people(body: SeatKey): Promise<Result<People>> {
    return this.#post<People>('people', body);
  }

  broadcast(body: BroadcastRequest): Promise<Result<null>> {
    return this.#post<null>('broadcast', body);
  }

  mute(body: MuteRequest): Promise<Result<null>> {
    return this.#post<null>('mute', body);
  }

  askToUnmute(body: PersonRequest): Promise<Result<null>> {
    return this.#post<null>('unmute', body);
  }

  remove(body: PersonRequest): Promise<Result<null>> {
    return this.#post<null>('remove', body);
  }

  readmit(body: PersonRequest): Promise<Result<null>> {
    return this.#post<null>('readmit', body);
  }

  updateLocks(body: LockRequest): Promise<Result<null>> {
    return this.#post<null>('locks', body);
  }

  setRole(body: RoleRequest): Promise<Result<null>> {
    return this.#post<null>('role', body);
  }

  admit(body: AdmitRequest): Promise<Result<null>> {
    return this.#post<null>('waiting/admit', body);
  }

  deny(body: PersonRequest): Promise<Result<null>> {
    return this.#post<null>('waiting/turn-away', body);
  }

  /** Also while the page is being closed. */
  stopWaiting(body: SeatKey): Promise<Result<null>> {
    return this.#post<null>('waiting/stop', body, { keepalive: true });
  }

  createInvitation(body: InvitationRequest): Promise<Result<Invitation>> {
    return this.#post<Invitation>('invitations', body);
  }

  raiseHand(body: SeatKey): Promise<Result<null>> {
    return this.#post<null>('hand/raise', body);
  }

  lowerHand(body: LowerHandRequest): Promise<Result<null>> {
    return this.#post<null>('hand/lower', body);
  }

  lowerHands(body: SeatKey): Promise<Result<null>> {
    return this.#post<null>('hands/lower', body);
  }

  react(body: ReactRequest): Promise<Result<null>> {
    return this.#post<null>('react', body);
  }

  giveFeedback(body: FeedbackRequest): Promise<Result<null>> {
    return this.#post<null>('feedback', body);
  }

  /** With `keepalive`, the request is sent even if the page is closed meanwhile. */
  async #post<T>(
    path: string,
    body: object,
    { signal, timeoutMs = requestTimeoutMs, keepalive = false }: { signal?: AbortSignal; timeoutMs?: number; keepalive?: boolean } = {},
  ): Promise<Result<T>> {
    const abort = new AbortController();
    const stop = (): void => abort.abort();
    let timedOut = false;
    const timer = setTimeout(() => {
      timedOut = true;
      stop();
    }, timeoutMs);
    signal?.addEventListener('abort', stop);
    try {
      const response = await this.#fetch(`${this.#base}/${path}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(body),
        cache: 'no-store',
        referrerPolicy: 'no-referrer',
        signal: abort.signal,
        keepalive,
      });
      if (response.ok) return { is: 'ok', value: (response.status === 204 ? null : await response.json()) as T };
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
