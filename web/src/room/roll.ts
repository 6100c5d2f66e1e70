/** Somebody on the stage; goneAt is set while only the connection may be gone, not the person. */
export interface Entry<P> {
  person: P;
  goneAt: number | null;
}

/**
 * Who is shown: everybody present, in the order of their coming, and a little
 * longer those who are not, so that nobody flickers when they or this page
 * come back. `keepUntil` says how long, by the time they went and who it is.
 */
export function callRoll<P extends { identity: string }>(
  before: readonly Entry<P>[],
  present: readonly P[],
  now: number,
  keepUntil: (goneAt: number, identity: string) => number,
): Entry<P>[] {
  const here = new Map(present.map((person) => [person.identity, person]));
  const after: Entry<P>[] = [];
  for (const entry of before) {
    const person = here.get(entry.person.identity);
    if (person) {
      here.delete(person.identity);
      after.push({ person, goneAt: null });
      continue;
    }
    const goneAt = entry.goneAt ?? now;
    if (now < keepUntil(goneAt, entry.person.identity)) after.push({ person: entry.person, goneAt });
  }
  for (const person of here.values()) after.push({ person, goneAt: null });
  return after;
}
