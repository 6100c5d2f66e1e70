/** The kind of an error, which tells a program what to do. */
export type ErrorKind =
  | 'invalid_request'
  | 'unauthorized'
  | 'forbidden'
  | 'not_found'
  | 'conflict'
  | 'gone'
  | 'rate_limited'
  | 'unavailable'
  | 'server_error'
  | 'unexpected_response'
  | 'missing_credential'
  | 'connection'
  | 'invalid_argument'
  | 'invalid_signature';

/** The fields of a ParleyError from which it is made. Absent fields are null, 0 or empty. */
export interface ErrorDetails {
  status?: number | null;
  code?: string;
  message: string;
  request_id?: string;
  retry_after?: number | null;
  attempts?: number;
  remedy?: string;
  cause?: unknown;
}

/**
 * The base class of all errors of the SDK, with one subclass for each kind. `message` is the sentence alone; `stack`
 * and `toString()` also have the status, the request and the remedy. No field contains a credential.
 */
export abstract class ParleyError extends Error {
  /** The kind of the error. */
  abstract readonly kind: ErrorKind;
  /** The HTTP status, such as 404; null without a response. */
  readonly status: number | null;
  /** The code of version 5, such as SVC_RATE_LIMITED; empty in other versions. */
  readonly code: string;
  /** Identifies the request in the log of the server; empty without one. It is not secret. */
  readonly request_id: string;
  /** How many seconds the server asks to wait; null if it does not say. At most a day. */
  readonly retry_after: number | null;
  /** How often the request was sent. A conflict after more than one attempt can be caused by an earlier attempt. */
  readonly attempts: number;
  /** What to do, as a sentence; empty if there is no advice. */
  readonly remedy: string;

  constructor(details: ErrorDetails) {
    super(errorText(details), details.cause === undefined ? undefined : { cause: details.cause });
    // Programs print the stack, so it keeps the whole text. An engine may build it later from the message of that time.
    Object.defineProperty(this, 'stack', { value: this.stack, configurable: true, writable: true });
    this.message = details.message;
    this.status = details.status ?? null;
    this.code = details.code ?? '';
    this.request_id = details.request_id ?? '';
    this.retry_after = details.retry_after ?? null;
    this.attempts = details.attempts ?? 0;
    this.remedy = details.remedy ?? '';
  }

  /** Returns the status, the message and the request in one line, and the remedy in the next line. */
  override toString(): string {
    return errorText(this);
  }

  /** Returns the fields. JSON.stringify would otherwise leave out the message. */
  toJSON(): Record<string, unknown> {
    return {
      kind: this.kind,
      status: this.status,
      code: this.code,
      message: this.message,
      request_id: this.request_id,
      retry_after: this.retry_after,
      attempts: this.attempts,
      remedy: this.remedy,
    };
  }
}

function errorText({ status, code, message, request_id, remedy }: ErrorDetails): string {
  const prefix = typeof status === 'number' ? `${status}${code ? ` ${code}` : ''}: ` : '';
  return `${prefix}${message}${request_id ? ` (request ${request_id})` : ''}${remedy ? `\n${remedy}` : ''}`;
}

/** 400, 413, 415 or 422: the message names the field and the bound. */
export class InvalidRequestError extends ParleyError {
  readonly kind = 'invalid_request';
}

/** 401: the project or the key is unknown, or the signature or its time is wrong. */
export class UnauthorizedError extends ParleyError {
  readonly kind = 'unauthorized';
}

/** 403: the project is inactive or suspended, or one of its settings does not allow the call. */
export class ForbiddenError extends ParleyError {
  readonly kind = 'forbidden';
}

/** 404: there is no such room or resource, or version 5 is disabled. */
export class NotFoundError extends ParleyError {
  readonly kind = 'not_found';
}

/** 409: the client_room_id is taken, an equal request is in progress, or the state of the room forbids the call. */
export class ConflictError extends ParleyError {
  readonly kind = 'conflict';
}

/** 410: the operator has ended this version of the API. */
export class GoneError extends ParleyError {
  readonly kind = 'gone';
}

/** 429: too many calls. `retry_after` is the time to wait. */
export class RateLimitedError extends ParleyError {
  readonly kind = 'rate_limited';
}

/** 502, 503 or 504: try again later. */
export class UnavailableError extends ParleyError {
  readonly kind = 'unavailable';
}

/** 500, another 5xx, or a status that no other class covers, such as a redirect. */
export class ServerError extends ParleyError {
  readonly kind = 'server_error';
}

/**
 * A response that the API does not document, or that is larger than 4 MiB (64 MiB for `activeRooms`), or a signed
 * webhook that is no event. A call that writes may have succeeded.
 */
export class UnexpectedResponseError extends ParleyError {
  readonly kind = 'unexpected_response';
}

/** The client has no credential for the call. Nothing was sent. */
export class MissingCredentialError extends ParleyError {
  readonly kind = 'missing_credential';
}

/** No response arrived, or only a part of one. A call that writes may have succeeded. */
export class ConnectionError extends ParleyError {
  readonly kind = 'connection';
}

/** An argument that cannot be used. Nothing was sent. */
export class InvalidArgumentError extends ParleyError {
  readonly kind = 'invalid_argument';
}

/** A webhook that is not from Parley, was changed, or is too old or too new. */
export class InvalidSignatureError extends ParleyError {
  readonly kind = 'invalid_signature';
}

// A minifier renames classes, but not these names.
const names = {
  ParleyError,
  InvalidRequestError,
  UnauthorizedError,
  ForbiddenError,
  NotFoundError,
  ConflictError,
  GoneError,
  RateLimitedError,
  UnavailableError,
  ServerError,
  UnexpectedResponseError,
  MissingCredentialError,
  ConnectionError,
  InvalidArgumentError,
  InvalidSignatureError,
};
for (const [name, { prototype }] of Object.entries(names)) prototype.name = name;
