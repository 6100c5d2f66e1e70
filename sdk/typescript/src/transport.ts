import { pathSegment } from './arguments.js';
import { Clock } from './clock.js';
import type { Signer } from './credentials.js';
import { redact, signingKey } from './credentials.js';
import { ConnectionError } from './errors.js';
import { decodeFailure } from './failure.js';
import { joinLinkClaims, signJoinLink } from './joinLink.js';
import type { Settings } from './options.js';
import { ApiResponse, discard, maxResponse, readBody, readUpTo, requestId, unexpectedResponse } from './response.js';
import { withRetries } from './retry.js';
import { signBody, signRequest } from './sign.js';
import { printable } from './text.js';
import type { JoinLinkRequest } from './types/meetings.js';

/** The maximum size of the body of an error in bytes; the rest is not read. */
const maxErrorBody = 64 * 1024;

/** One call, which may be sent several times. */
export interface Call {
  method: 'GET' | 'POST' | 'PUT';
  /** Path and query. */
  target: string;
  /** The header Accept. */
  accept: string;
  body?: Uint8Array;
  signer: Signer;
  idempotencyKey?: string | undefined;
  /** Whether the body has a client_room_id. */
  clientRoomId?: boolean;
  /** Whether it is safe to send the call again. */
  repeatable: boolean;
  /** How long it is safe, in milliseconds. Absent means without a limit. */
  retryWindow?: number;
}

/** Signs and sends calls. Its private fields keep the credentials out of every way to print it. */
export class Transport {
  readonly #settings: Settings;
  readonly #clock = new Clock();

  constructor(settings: Settings) {
    this.#settings = settings;
  }

  /** The UUID of the project; empty without one. It is not secret. */
  get projectId(): string {
    return this.#settings.credentials.project_id;
  }

  /** Sends a call until it succeeds or must not be repeated. Rejects with a ParleyError or the reason of the signal. */
  async send(call: Call, signal: AbortSignal | undefined): Promise<ApiResponse> {
    const key = signingKey(this.#settings.credentials, call.signer);
    return withRetries({
      call,
      signal,
      maxAttempts: this.#settings.maxAttempts,
      clockOffset: () => this.#clock.offset,
      attempt: (number, offset) => this.#exchange(call, key, number, offset, signal),
    });
  }

  /** Returns a link that is signed with the project secret, and sends nothing. Rejects with a ParleyError. */
  async joinLink(link: JoinLinkRequest): Promise<string> {
    const { base, credentials } = this.#settings;
    const key = signingKey(credentials, 'project_secret');
    const claims = joinLinkClaims(link, Date.now() + this.#clock.offset);
    const token = await signJoinLink(key, claims);
    return `${base}/r/${pathSegment('room_id', claims.room_id)}#j=${token}`;
  }

  /** Sends a call once. `offset` is how many milliseconds the clock of the server is ahead. */
  async #exchange(
    call: Call,
    key: string,
    attempts: number,
    offset: number,
    signal: AbortSignal | undefined,
  ): Promise<ApiResponse> {
    const headers = await this.#headers(call, key, Date.now() + offset);
    // AbortSignal.any and AbortSignal.timeout do the same, but not on all versions of Node 20.
    const controller = new AbortController();
    const abort = () => controller.abort();
    signal?.throwIfAborted();
    signal?.addEventListener('abort', abort, { once: true });
    const timer = setTimeout(abort, this.#settings.timeout);
    const lost = (what: string, error: unknown) => {
      if (signal?.aborted) return signal.reason;
      const seconds = this.#settings.timeout / 1000;
      const reason = controller.signal.aborted ? `the attempt took longer than ${seconds} s` : describe(error);
      const message = printable(redact(this.#settings.credentials, `${what}: ${reason}`), 500);
      return new ConnectionError({ message, attempts, cause: codesOf(error) });
    };
    try {
      const sent = Date.now();
      const { method, target, body } = call;
      const response = await fetch(this.#settings.base + target, {
        method,
        headers,
        ...(body && bodyOf(body)),
        ...(!call.repeatable && ownConnection()),
        redirect: 'manual', // a signature is valid for one target, and the API key is meant for one host
        signal: controller.signal,
      }).catch((error) => Promise.reject(lost('no response arrived', error)));
      this.#clock.observe(sent, Date.now(), response.headers);
      if (response.status !== 200) throw await this.#refused(call, response, attempts, signal);
      const request_id = this.#requestId(response);
      const limit = maxResponse(target);
      const content = await readBody(response, limit).catch((error) =>
        Promise.reject(lost('only a part of the response arrived', error)),
      );
      if (!content) throw unexpectedResponse(200, request_id, attempts, `the response is larger than ${limit} MiB`);
      return new ApiResponse(response.headers, request_id, attempts, content);
    } finally {
      clearTimeout(timer);
      signal?.removeEventListener('abort', abort);
    }
  }

  async #headers(call: Call, key: string, now: number): Promise<Record<string, string>> {
    const { method, target, idempotencyKey, signer } = call;
    const headers: Record<string, string> = { accept: call.accept, 'user-agent': this.#settings.userAgent };
    const body = call.body ?? new Uint8Array();
    if (call.body) headers['content-type'] = 'application/json';
    if (idempotencyKey) headers['idempotency-key'] = idempotencyKey;
    if (signer === 'gateway') {
      const timestamp = String(Math.floor(now / 1000));
      headers['api-key'] = this.#settings.credentials.api_key;
      headers.timestamp = timestamp;
      const signed = { method, target, timestamp, idempotency_key: idempotencyKey, body };
      headers['hash-signature'] = await signRequest(key, signed);
    } else if (signer !== 'none') {
      headers['hash-signature'] = await signBody(key, body);
    }
    return headers;
  }

  /** Returns the error of a response with another status than 200. */
  async #refused(call: Call, response: Response, attempts: number, signal: AbortSignal | undefined): Promise<Error> {
    if (response.ok) {
      discard(response.body);
      const message = `the status is ${response.status} instead of 200`;
      return unexpectedResponse(response.status, this.#requestId(response), attempts, message);
    }
    // A body that is cut off is ignored, because the status alone identifies an error.
    const { body } = await readUpTo(response, maxErrorBody).catch(() => ({ body: new Uint8Array() }));
    signal?.throwIfAborted();
    const { signer, clientRoomId } = call;
    return decodeFailure(response, body, { signer, clientRoomId, attempts, credentials: this.#settings.credentials });
  }

  #requestId(response: Response): string {
    return printable(redact(this.#settings.credentials, requestId(response.headers)), 100);
  }
}

/**
 * Returns the body of a request for fetch. If an open connection breaks, fetch of Deno sends a request a second time by
 * itself, also a creation. It cannot do that with a stream.
 */
function bodyOf(bytes: Uint8Array): RequestInit & { duplex?: 'half' } {
  const body = new Uint8Array(bytes);
  return 'Deno' in globalThis ? { body: new Blob([body]).stream(), duplex: 'half' } : { body };
}

/**
 * Returns the options of a request that must not be sent twice. If an open connection breaks, fetch of Bun before 1.3.14
 * sends a request a second time by itself, also a creation. It cannot do that on a new connection.
 */
function ownConnection(): RequestInit {
  return 'Bun' in globalThis ? { keepalive: false } : {};
}

/** Returns the codes of an error. The error itself may contain the response, which may repeat the API key. */
function codesOf(error: unknown): { code: unknown; cause: { code: unknown } } {
  const { code, cause } = error as { code?: unknown; cause?: { code?: unknown } };
  return { code, cause: { code: cause?.code } };
}

/** Describes why a connection failed. The error of fetch itself says only "fetch failed" in some runtimes. */
function describe(error: unknown): string {
  const { cause, message, code } = error as { cause?: unknown; message?: string; code?: unknown };
  const { message: deeper, code: reason } = (cause ?? {}) as { message?: string; code?: unknown };
  return deeper || String(reason || message || code || 'the connection failed');
}
