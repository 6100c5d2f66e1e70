interface Named {
  identity: string;
  name: string;
  you: boolean;
}

/** Those whose hand is up and who are here, in the server's order. */
export function raised<P extends Named>(hands: readonly string[], people: readonly P[]): P[] {
  const here = new Map(people.map((person) => [person.identity, person]));
  return hands.flatMap((identity) => here.get(identity) ?? []);
}

/** Those whose hand went up meanwhile; it is nobody's own. */
export function risen<P extends Named>(before: readonly P[], after: readonly P[]): P[] {
  const known = new Set(before.map(({ identity }) => identity));
  return after.filter(({ identity, you }) => !you && !known.has(identity));
}
