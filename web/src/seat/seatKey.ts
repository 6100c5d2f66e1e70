/** Creates a seat key: 32 random bytes in Base64url. It gives access to the same seat again. */
export function newSeatKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(32));
  return btoa(String.fromCharCode(...bytes))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replaceAll('=', '');
}

const seatKeyPattern = /^[A-Za-z0-9_-]{22,128}$/;

/** Validates a value from storage, which any script may have written. */
export function isSeatKey(value: string | null): value is string {
  return value !== null && seatKeyPattern.test(value);
}
