/** Somebody on the stage; goneAt is set while only the connection may be gone, not the person. */
export interface RosterEntry<P> {
  person: P;
  disconnectedAt: number | null;
}

/**
 * Who is shown: everybody present, in the order of their coming, and a little
 * longer those who are not, so that nobody flickers when they or this page
 * come back. `keepUntil` says how long, by the time they went and who it is.
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
