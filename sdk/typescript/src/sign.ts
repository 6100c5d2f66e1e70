import type { RawBody } from './encoding.js';
import { bytesOf, concatenate, fromBase64, fromHex, toBase64, toHex } from './encoding.js';
import { InvalidArgumentError } from './errors.js';

/** The name of the signing profile of version 5, the first line of every signed text. */
export const SIGNING_PROFILE = 'SVC-HMAC-V5-1';

/** The parts of a request that a version 5 signature covers, exactly as they are sent. */
export interface SignedRequest {
  /** Converted to upper case. */
  method: string;
  /** The path and, if there is one, `?` and the query. */
  target: string;
  /** Unix time in seconds, in ASCII digits, as in the header `timestamp`. */
  timestamp: string;
  /** The header Idempotency-Key of a POST; empty without one and on GET. */
  idempotency_key?: string | undefined;
  /** The raw body; empty on GET. */
  body?: RawBody | undefined;
}

/**
 * Returns the version 5 signature of a request: 64 hexadecimal digits. The companion routes of versions 3 and 4 have
 * the same one. Rejects with InvalidArgumentError for an empty secret.
 */
export async function signRequest(gateway_secret: string, request: SignedRequest): Promise<string> {
  return toHex(await hmac(bytesOf(gateway_secret), requestText(request)));
}

/**
 * Reports whether a signature is the version 5 signature of a request, in constant time. Digits of either case are
 * accepted. It does not check whether the timestamp is recent. False for an empty secret and for a line feed within a
 * part, because it would make the signed text ambiguous.
 */
export async function verifyRequest(
  gateway_secret: string,
  request: SignedRequest,
  signature: string,
): Promise<boolean> {
  const { method, target, timestamp, idempotency_key = '' } = request;
  if (`${method}${target}${timestamp}${idempotency_key}`.includes('\n')) return false;
  return matches(gateway_secret, requestText(request), fromHex(signature));
}

/**
 * Returns the body signature of versions 3 and 4 and of join events: standard Base64, 44 characters. The key is the
 * project secret or an API key as shown. Rejects with InvalidArgumentError for an empty key.
 */
export async function signBody(key: string, body: RawBody): Promise<string> {
  return toBase64(await hmac(bytesOf(key), bytesOf(body)));
}

/** Reports whether a signature is the body signature of a body, in constant time. False for an empty key. */
export async function verifyBody(key: string, body: RawBody, signature: string): Promise<boolean> {
  return matches(key, bytesOf(body), fromBase64(signature));
}

function requestText({ method, target, timestamp, idempotency_key = '', body = '' }: SignedRequest): Uint8Array {
  const upper = method.replace(/[a-z]/g, (letter) => letter.toUpperCase());
  const head = `${SIGNING_PROFILE}\n${upper}\n${target}\n${timestamp}\n${idempotency_key}\n`;
  return concatenate([bytesOf(head), bytesOf(body)]);
}

async function matches(key: string, text: Uint8Array, signature: Uint8Array | null): Promise<boolean> {
  return key !== '' && signature !== null && equal(await hmac(bytesOf(key), text), signature);
}

/** Returns the HMAC-SHA256 of a text. Throws InvalidArgumentError for an empty key. */
export async function hmac(key: Uint8Array, text: Uint8Array): Promise<Uint8Array> {
  if (key.byteLength === 0) throw new InvalidArgumentError({ message: 'the key of a signature must not be empty' });
  const algorithm = { name: 'HMAC', hash: 'SHA-256' };
  const imported = await crypto.subtle.importKey('raw', source(key), algorithm, false, ['sign']);
  return new Uint8Array(await crypto.subtle.sign('HMAC', imported, source(text)));
}

/** Compares two signatures in a time that depends only on their lengths. */
export function equal(first: Uint8Array, second: Uint8Array): boolean {
  let difference = first.byteLength ^ second.byteLength;
  for (const [index, byte] of first.entries()) difference |= byte ^ (second[index] ?? 0);
  return difference === 0;
}

/** Returns a copy in a buffer of its own, because WebCrypto refuses shared memory. */
function source(bytes: Uint8Array) {
  return new Uint8Array(bytes);
}
