interface Named {
  identity: string;
  name: string;
}

const comparableName = (name: string): string => name.normalize('NFKC').trim().toLowerCase();

/**
 * Adds a number to the second and later people with the same name: "Ana", "Ana (2)". They are in
 * the order of their identities, which begin with the time when the server made them, so that
 * pages with the same people show the same numbers.
 */
export function distinctNames<P extends Named>(people: readonly P[]): P[] {
  const groups = new Map<string, P[]>();
  for (const person of people) {
    const key = comparableName(person.name);
    groups.set(key, [...(groups.get(key) ?? []), person]);
  }
  const names = new Map<string, string>();
  for (const group of groups.values()) {
    group.sort((a, b) => (a.identity < b.identity ? -1 : 1));
    group.forEach(({ identity, name }, i) => {
      if (i > 0) names.set(identity, `${name} (${i + 1})`);
    });
  }
  return people.map((person) => {
    const name = names.get(person.identity);
    return name === undefined ? person : { ...person, name };
  });
}
