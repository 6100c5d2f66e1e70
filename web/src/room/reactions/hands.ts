interface Named {
  identity: string;
  name: string;
  you: boolean;
}

/** Those whose hand is up and who are here, in the server's order. */
export function raisedHands<P extends Named>(hands: readonly string[], people: readonly P[]): P[] {
  const present = new Map(people.map((person) => [person.identity, person]));
  return hands.flatMap((identity) => present.get(identity) ?? []);
}

/** Those whose hand went up meanwhile; it is nobody's own. */
export function newlyRaised<P extends Named>(before: readonly P[], after: readonly P[]): P[] {
  const known = new Set(before.map(({ identity }) => identity));
  return after.filter(({ identity, you }) => !you && !known.has(identity));
}
