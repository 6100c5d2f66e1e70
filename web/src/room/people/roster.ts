/** A person on the stage. disconnectedAt is set while the person is shown although they are disconnected. */
export interface RosterEntry<P> {
  person: P;
  disconnectedAt: number | null;
}

/** Milliseconds for which a person who lost the connection stays on the stage. */
const disconnectGraceMs = 120_000;
/**
 * Milliseconds after this page has reconnected for those who were missing meanwhile, because
 * they may still be reconnecting. It is not known whether they left.
 */
const reconnectGraceMs = 8_000;

/**
 * Returns until when a person who lost the connection stays on the stage. `connectedSince` is when
 * this page connected, or null while it is not connected: it then knows nothing about the others.
 */
export function graceEnd(disconnectedAt: number, connectedSince: number | null): number {
  if (connectedSince === null) return Infinity;
  // People who are missing on the new connection are found a moment after it was made.
  return disconnectedAt > connectedSince + 1_000 ? disconnectedAt + disconnectGraceMs : connectedSince + reconnectGraceMs;
}

/**
 * Returns the people to show: everybody present, in the order of joining, and for a while
 * those who are disconnected, so that tiles do not flicker while they or this page
 * reconnect. `keepUntil` returns until when, by the time of the disconnect and the
 * identity.
 */
export function updateRoster<P extends { identity: string }>(
  before: readonly RosterEntry<P>[],
  present: readonly P[],
  now: number,
  keepUntil: (disconnectedAt: number, identity: string) => number,
): RosterEntry<P>[] {
  const remaining = new Map(present.map((person) => [person.identity, person]));
  const after: RosterEntry<P>[] = [];
  for (const entry of before) {
    const person = remaining.get(entry.person.identity);
    if (person) {
      remaining.delete(person.identity);
      after.push({ person, disconnectedAt: null });
      continue;
    }
    const disconnectedAt = entry.disconnectedAt ?? now;
    if (now < keepUntil(disconnectedAt, entry.person.identity)) after.push({ person: entry.person, disconnectedAt });
  }
  for (const person of remaining.values()) after.push({ person, disconnectedAt: null });
  return after;
}
