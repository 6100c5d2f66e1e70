import type { RawBody } from './encoding.js';
import { bytesOf, concatenate, fromBase64, toBase64 } from './encoding.js';
import { InvalidArgumentError, InvalidSignatureError, UnexpectedResponseError } from './errors.js';
import { mismatch } from './shape.js';
import { webhookEvent } from './shapes.js';
import { equal, hmac } from './sign.js';
import type { WebhookEvent } from './types/events.js';

const secretPrefix = 'whsec_';
const signaturePrefix = 'v1,';
/** How far the timestamp of a webhook may be from now by default, in seconds. */
export const defaultTolerance = 300;

/** Headers of a request: of the fetch API, or of Node with names in lower case. */
export type HeaderSource = Headers | Readonly<Record<string, string | readonly string[] | undefined>>;

/** One project secret, or several during a rotation. */
export type Secrets = string | readonly string[];

/** A webhook as it was received. */
export interface ReceivedWebhook {
  /** The project secrets that are accepted, as shown: `whsec_` and Base64. */
  secrets: Secrets;
  headers: HeaderSource;
  /** The raw body, exactly as it was received. */
  body: RawBody;
  /** How far the timestamp may be from now, in seconds. 300 by default. */
  tolerance?: number | undefined;
  /** The time now in Unix seconds. By default that of our clock. */
  now?: number | undefined;
}

/** The signed parts of a webhook. */
export interface SignedWebhook {
  /** The header `webhook-id`. */
  id: string;
  /** The header `webhook-timestamp`: Unix seconds in ASCII digits. */
  timestamp: string;
  /** The raw body. */
  body: RawBody;
}

/**
 * Returns the event of a webhook after a check of its signature and its timestamp. Rejects with InvalidSignatureError
 * if a header is missing, no signature matches, or the timestamp is too old or too new; with InvalidArgumentError for
 * a secret or a tolerance that cannot be used; and with UnexpectedResponseError if the signed body is not an event.
 */
export async function verifyWebhook(webhook: ReceivedWebhook): Promise<WebhookEvent> {
  const { secrets, headers, tolerance = defaultTolerance, now = Date.now() / 1000 } = webhook;
  const body = bytesOf(webhook.body);
  checkSecrets(secrets);
  checkTolerance(tolerance);
  if (!Number.isFinite(now)) throw new InvalidArgumentError({ message: 'now must be a number of Unix seconds' });
  const id = requiredHeader(headers, 'webhook-id');
  const timestamp = requiredHeader(headers, 'webhook-timestamp');
  const signature = requiredHeader(headers, 'webhook-signature');
  if (!(await verifyWebhookSignature(secrets, { id, timestamp, body }, signature))) {
    throw new InvalidSignatureError({ message: 'no signature matches' });
  }
  const age = Math.floor(now) - Number(timestamp);
  if (age > tolerance) throw new InvalidSignatureError({ message: 'the timestamp is too old' });
  if (age < -tolerance) throw new InvalidSignatureError({ message: 'the timestamp is too new' });
  return parseEvent(body);
}

/**
 * Returns the value of the header `webhook-signature`: one signature for each secret. Rejects with InvalidArgumentError
 * for a secret, an ID or a timestamp that cannot be used.
 */
export async function signWebhook(secrets: Secrets, webhook: SignedWebhook): Promise<string> {
  if (!isUnambiguous(webhook)) {
    throw new InvalidArgumentError({
      message: 'id must not be empty or contain a full stop or a space, and timestamp must be Unix seconds',
    });
  }
  const text = webhookText(webhook);
  const signatures = checkSecrets(secrets).map(async (key) => `${signaturePrefix}${toBase64(await hmac(key, text))}`);
  return (await Promise.all(signatures)).join(' ');
}

/**
 * Reports whether one of the signatures in the header `webhook-signature` was made with one of the secrets, in constant
 * time. It does not check whether the timestamp is recent. Rejects with InvalidArgumentError for a malformed secret.
 */
export async function verifyWebhookSignature(
  secrets: Secrets,
  webhook: SignedWebhook,
  signature: string,
): Promise<boolean> {
  const keys = checkSecrets(secrets);
  if (!isUnambiguous(webhook)) return false;
  const text = webhookText(webhook);
  const expected = await Promise.all(keys.map((key) => hmac(key, text)));
  let found = false;
  for (const part of signature.split(' ')) {
    const decoded = part.startsWith(signaturePrefix) ? fromBase64(part.slice(signaturePrefix.length)) : null;
    for (const sum of expected) if (decoded && equal(sum, decoded)) found = true;
  }
  return found;
}

/** Returns the keys of webhook secrets. Throws InvalidArgumentError, which does not repeat a secret. */
export function checkSecrets(secrets: Secrets): Uint8Array[] {
  const all = typeof secrets === 'string' ? [secrets] : secrets;
  if (!Array.isArray(all) || all.length === 0) {
    throw new InvalidArgumentError({ message: 'secrets must be a project secret or a list of them' });
  }
  return all.map((secret: unknown) => {
    const key =
      typeof secret === 'string' && secret.startsWith(secretPrefix)
        ? fromBase64(secret.slice(secretPrefix.length))
        : null;
    if (!key || key.byteLength < 24 || key.byteLength > 64) {
      throw new InvalidArgumentError({
        message: 'a webhook secret is "whsec_" and the standard Base64 of 24 to 64 bytes',
      });
    }
    return key;
  });
}

/** Throws InvalidArgumentError for a tolerance that cannot be used. */
export function checkTolerance(tolerance: unknown): void {
  if (typeof tolerance !== 'number' || !(tolerance >= 0)) {
    throw new InvalidArgumentError({ message: 'tolerance must be a number of seconds, 0 or more' });
  }
}

/** Reports whether the borders between the parts of the signed text are clear. */
function isUnambiguous({ id, timestamp }: SignedWebhook): boolean {
  return /^[^. \r\n]+$/.test(id) && /^\d{1,18}$/.test(timestamp);
}

function webhookText({ id, timestamp, body }: SignedWebhook): Uint8Array {
  return concatenate([bytesOf(`${id}.${timestamp}.`), bytesOf(body)]);
}

function requiredHeader(headers: HeaderSource, name: string): string {
  const value = isHeaders(headers) ? headers.get(name) : findHeader(headers, name);
  if (!value) throw new InvalidSignatureError({ message: `missing header ${name}` });
  return value;
}

/** Also true for Headers of another implementation or realm, which instanceof would not recognize. */
function isHeaders(headers: HeaderSource): headers is Headers {
  return typeof headers.get === 'function';
}

function findHeader(headers: Exclude<HeaderSource, Headers>, name: string): string | undefined {
  for (const [key, value] of Object.entries(headers)) {
    if (key.toLowerCase() === name) return typeof value === 'string' ? value : value?.join(', ');
  }
  return undefined;
}

function parseEvent(body: Uint8Array): WebhookEvent {
  let event: unknown;
  try {
    event = JSON.parse(new TextDecoder().decode(body));
  } catch {
    event = undefined;
  }
  if (mismatch(event, webhookEvent) !== null) {
    throw new UnexpectedResponseError({ message: 'the signed body is not an event' });
  }
  return event as WebhookEvent;
}
