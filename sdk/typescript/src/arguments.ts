import { InvalidArgumentError } from './errors.js';

/** Matches a text without half of a surrogate pair. */
const wellFormed = /^\P{Surrogate}*$/u;

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
  return checkText('room_id', checkObject(values).room_id);
}

/** Returns a text of the arguments of a call that becomes a part of the address. */
export function checkText(name: string, value: unknown): string {
  if (typeof value !== 'string' || value === '') throw invalid(`${name} must be a string that is not empty`);
  if (!wellFormed.test(value)) throw invalid(`${name} must be well-formed Unicode`);
  return value;
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
  return encodeURIComponent(checkText(name, value));
}

/**
 * Writes the body of a request as JSON in UTF-8. Characters outside of ASCII are not escaped. Throws
 * InvalidArgumentError, which names the field, for a value that JSON does not have. JSON.stringify would write null for
 * some of them, or nothing.
 */
export function encodeBody(fields: object): Uint8Array {
  const paths = new Map<unknown, string>();
  let path = '';
  function check(this: unknown, key: string, value: unknown): unknown {
    const holder = paths.get(this) ?? '';
    path = Array.isArray(this) ? `${holder}[${key}]` : (holder && `${holder}.${key}`) || key;
    const problem = wellFormed.test(key) ? problemOf(value, this, key) : 'must have a name in well-formed Unicode';
    if (problem) throw invalid(`${path} ${problem}`);
    if (typeof value === 'object') paths.set(value, path);
    return value;
  }
  try {
    return new TextEncoder().encode(JSON.stringify(fields, check));
  } catch (error) {
    if (error instanceof InvalidArgumentError) throw error;
    throw invalid(`${path || 'an argument'} cannot be written as JSON, for instance because it contains itself`);
  }
}

/** Returns what a value of an object or a list must be, if JSON does not have it. */
function problemOf(value: unknown, holder: unknown, key: string): string | undefined {
  // JSON.stringify passes the result of toJSON, which is null for such a date.
  const original: unknown = (holder as Record<string, unknown>)[key];
  if (original instanceof Date && Number.isNaN(original.getTime())) return 'must be a valid date';
  switch (typeof value) {
    case 'undefined': // JSON.stringify leaves it out of an object, and writes null into a list
      return Array.isArray(holder) ? 'must not be undefined' : undefined;
    case 'string':
      return wellFormed.test(value) ? undefined : 'must be well-formed Unicode';
    case 'number':
      return Number.isFinite(value) ? undefined : 'must be a finite number';
    case 'bigint':
    case 'function':
    case 'symbol':
      return `must be a value that JSON has, not a ${typeof value}`;
    default:
      return undefined;
  }
}
