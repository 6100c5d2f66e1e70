interface Named {
  identity: string;
  name: string;
}

const fold = (name: string): string => name.normalize('NFKC').trim().toLowerCase();

/**
 * Tells people with the same name apart: "Ana", "Ana (2)". Identities begin with the time at
 * which the server made them, so that all pages count in the same order, also after a person
 * has connected again.
 */
export function distinctNames<P extends Named>(people: readonly P[]): P[] {
  const groups = new Map<string, P[]>();
  for (const person of people) {
    const key = fold(person.name);
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
