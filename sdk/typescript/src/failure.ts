import type { Credentials } from './credentials.js';
import { redact } from './credentials.js';
import type { ErrorDetails, ParleyError } from './errors.js';
import * as errors from './errors.js';
import type { Failure } from './remedy.js';
import { remedyFor } from './remedy.js';
import { requestId, retryAfter } from './response.js';
import { printable, statusText } from './text.js';

const maxMessage = 500;
/** The maximum length of a code or an ID of a request, in characters. */
const maxName = 100;

/** What the client knows about a call whose response is an error. */
export type FailedCall = Pick<Failure, 'signer' | 'clientRoomId'> & { attempts: number; credentials: Credentials };

/**
 * Decodes an error response. A body in neither of the two documented forms is ignored, because it is the page of a
 * proxy.
 */
export function decodeFailure(response: Response, body: Uint8Array, call: FailedCall): ParleyError {
  const clean = (text: string, limit: number) => printable(redact(call.credentials, text), limit);
  const { status, headers } = response;
  const decoded = decodeBody(body);
  const code = clean(decoded.code, maxName);
  const message = clean(decoded.message, maxMessage) || statusText(status);
  const request_id = clean(decoded.request_id || requestId(headers), maxName);
  const { attempts, signer, clientRoomId } = call;
  const hasProjectSecret = call.credentials.project_secret !== '';
  const remedy = remedyFor({ status, code, message, request_id, attempts, signer, hasProjectSecret, clientRoomId });
  const retry_after = retryAfter(headers);
  return errorOfStatus(status, { status, code, message, request_id, retry_after, attempts, remedy });
}

function decodeBody(body: Uint8Array): { code: string; message: string; request_id: string } {
  const none = { code: '', message: '', request_id: '' };
  let outer: unknown;
  try {
    outer = JSON.parse(new TextDecoder().decode(body));
  } catch {
    return none;
  }
  const error = field(outer, 'error');
  if (typeof error === 'string') return { ...none, message: error };
  const text = (name: string) => {
    const value = field(error, name);
    return typeof value === 'string' ? value : '';
  };
  return { code: text('code'), message: text('message'), request_id: text('request_id') };
}

function field(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[name] : undefined;
}

function errorOfStatus(status: number, details: ErrorDetails): ParleyError {
  switch (status) {
    case 400:
    case 413:
    case 415:
    case 422:
      return new errors.InvalidRequestError(details);
    case 401:
      return new errors.UnauthorizedError(details);
    case 403:
      return new errors.ForbiddenError(details);
    case 404:
      return new errors.NotFoundError(details);
    case 409:
      return new errors.ConflictError(details);
    case 410:
      return new errors.GoneError(details);
    case 429:
      return new errors.RateLimitedError(details);
    case 502:
    case 503:
    case 504:
      return new errors.UnavailableError(details);
    default:
      return new errors.ServerError(details);
  }
}
