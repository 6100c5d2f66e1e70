interface Named {
  identity: string;
  name: string;
  you: boolean;
}

/** Returns the present people whose hand is raised, in the server's order. */
export function raisedHands<P extends Named>(hands: readonly string[], people: readonly P[]): P[] {
  const present = new Map(people.map((person) => [person.identity, person]));
  return hands.flatMap((identity) => present.get(identity) ?? []);
}

/** Returns the others whose hand was raised since `before`. */
export function newlyRaised<P extends Named>(before: readonly P[], after: readonly P[]): P[] {
  const known = new Set(before.map(({ identity }) => identity));
  return after.filter(({ identity, you }) => !you && !known.has(identity));
}

/**
 * Returns when each of these hands went up; null for those that were up when the page came.
 * A hand that was lowered starts again.
 */
export function updateRaisedAt(
  before: ReadonlyMap<string, number | null> | null,
  hands: readonly { identity: string }[],
  now: number,
): ReadonlyMap<string, number | null> {
  return new Map(hands.map(({ identity }) => [identity, before?.has(identity) ? (before.get(identity) ?? null) : before && now]));
}
