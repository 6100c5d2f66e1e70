import { InvalidArgumentError } from './errors.js';

const utf8 = new TextEncoder();

/** The length of 64 bytes in Base64. No secret and no signature is longer. */
const maxBase64 = 88;

/** A body exactly as it is sent: text, which is encoded in UTF-8, or bytes. */
export type RawBody = string | Uint8Array | ArrayBuffer;

/** Returns the bytes of a body. Throws InvalidArgumentError for another value, such as a body that was parsed. */
export function bytesOf(body: RawBody): Uint8Array {
  if (typeof body === 'string') return utf8.encode(body);
  if (ArrayBuffer.isView(body)) return new Uint8Array(body.buffer, body.byteOffset, body.byteLength);
  if (Object.prototype.toString.call(body) === '[object ArrayBuffer]') return new Uint8Array(body);
  throw new InvalidArgumentError({
    message: 'a body must be a string or bytes, exactly as it was received or is sent',
  });
}

/** Returns the parts as one array. */
export function concatenate(parts: readonly Uint8Array[]): Uint8Array {
  const size = parts.reduce((sum, part) => sum + part.byteLength, 0);
  const all = new Uint8Array(size);
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.byteLength;
  }
  return all;
}

/** Encodes bytes in standard Base64 with padding. */
export function toBase64(bytes: Uint8Array): string {
  return btoa(String.fromCharCode(...bytes));
}

/** Encodes bytes in Base64 for URLs, without padding. */
export function toBase64Url(bytes: Uint8Array): string {
  return toBase64(bytes).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');
}

/** Decodes up to 64 bytes from standard Base64 with padding. Returns null for any other form of the same bytes. */
export function fromBase64(text: string): Uint8Array | null {
  if (text.length > maxBase64 || !/^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/.test(text))
    return null;
  const bytes = Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
  // atob ignores bits behind the last byte, so that two texts could mean the same bytes.
  return toBase64(bytes) === text ? bytes : null;
}

/** Encodes bytes as hexadecimal digits in lower case. */
export function toHex(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}

/** Decodes hexadecimal digits of either case. Returns null for another text. */
export function fromHex(text: string): Uint8Array | null {
  if (!/^(?:[0-9a-fA-F]{2})*$/.test(text)) return null;
  return Uint8Array.from(text.match(/../g) ?? [], (digits) => Number.parseInt(digits, 16));
}
