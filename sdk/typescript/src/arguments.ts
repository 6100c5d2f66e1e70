import { InvalidArgumentError } from './errors.js';

/** Returns an InvalidArgumentError. */
export function invalid(message: string): InvalidArgumentError {
  return new InvalidArgumentError({ message });
}

/** Returns the arguments of a call, which must be one object. */
export function checkObject<Arguments extends object>(values: Arguments): Arguments {
  if (typeof values !== 'object' || values === null || Array.isArray(values)) {
    throw invalid('a call takes one object with its arguments, such as { room_id }');
  }
  return values;
}

/** Returns the room_id of the arguments of a call. Without one the request would mean something else. */
export function checkRoomId(values: { room_id: string }): string {
  const { room_id } = checkObject(values);
  if (typeof room_id !== 'string' || room_id === '') throw invalid('room_id must be a string that is not empty');
  return room_id;
}

/** Returns an idempotency key, undefined without one. */
export function checkIdempotencyKey(key: unknown): string | undefined {
  if (key === undefined || key === null) return undefined;
  // Spaces at the ends are removed from a header on its way, but not from the signed text.
  if (typeof key !== 'string' || key.length > 255 || !/^[!-~]([ -~]*[!-~])?$/.test(key)) {
    throw invalid(
      'idempotency_key must have 1 to 255 printable ASCII characters, without a space at the start or the end',
    );
  }
  return key;
}

/** Returns an optional integer of the arguments of a call. */
export function checkInteger(name: string, value: unknown, least: number): number | undefined {
  if (value === undefined || value === null) return undefined;
  if (typeof value !== 'number' || !Number.isSafeInteger(value) || value < least) {
    throw invalid(`${name} must be an integer of at least ${least}`);
  }
  return value;
}

/** Returns an integer of the arguments of a call that is within bounds. */
export function checkBetween(name: string, value: unknown, least: number, most: number): number {
  if (typeof value !== 'number' || !Number.isSafeInteger(value) || value < least || value > most) {
    throw invalid(`${name} must be an integer between ${least} and ${most}`);
  }
  return value;
}

/** Escapes a text as one segment of a path. */
export function pathSegment(name: string, value: string): string {
  // A URL would resolve these two segments, even when they are escaped.
  if (value === '.' || value === '..') throw invalid(`${name} must not be "${value}"`);
  try {
    return encodeURIComponent(value);
  } catch {
    throw invalid(`${name} must be well-formed Unicode`);
  }
}

/** Writes the body of a request as JSON in UTF-8. Characters outside of ASCII are not escaped. */
export function encodeBody(value: object): Uint8Array {
  try {
    return new TextEncoder().encode(JSON.stringify(value));
  } catch {
    throw invalid('the arguments cannot be written as JSON, for instance because of a BigInt or a cycle');
  }
}
