/** A new seat key: 32 random bytes in Base64url. Whoever has it returns to the same seat. */
export function newSeatKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(32));
  return btoa(String.fromCharCode(...bytes))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replaceAll('=', '');
}

const seatKeyPattern = /^[A-Za-z0-9_-]{22,128}$/;

/** What storage says may have been written by anything. */
export function isSeatKey(value: string | null): value is string {
  return value !== null && seatKeyPattern.test(value);
}
