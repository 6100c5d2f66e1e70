export { ParleyClient } from './client.js';
export type { RawBody } from './encoding.js';
export type { ErrorDetails, ErrorKind } from './errors.js';
export {
  ConflictError,
  ConnectionError,
  ForbiddenError,
  GoneError,
  InvalidArgumentError,
  InvalidRequestError,
  InvalidSignatureError,
  MissingCredentialError,
  NotFoundError,
  ParleyError,
  RateLimitedError,
  ServerError,
  UnauthorizedError,
  UnavailableError,
  UnexpectedResponseError,
} from './errors.js';
export type { JoinLinkClaims } from './joinLink.js';
export { signJoinLink } from './joinLink.js';
export type { ApiVersion, ClientOptions, CommonOptions } from './options.js';
export type { SignedRequest } from './sign.js';
export { SIGNING_PROFILE, signBody, signRequest, verifyBody, verifyRequest } from './sign.js';
export type * from './types/events.js';
export type * from './types/gateway.js';
export type * from './types/meetings.js';
export type * from './types/rooms.js';
export { VERSION } from './version.js';
export type { HeaderSource, ReceivedWebhook, Secrets, SignedWebhook } from './webhookSignature.js';
export { signWebhook, verifyWebhook, verifyWebhookSignature } from './webhookSignature.js';
