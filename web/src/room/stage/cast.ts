import type { Person } from '../person';
import type { Entry } from '../roll';

interface Wish {
  selfHidden: boolean;
  facesOnly: boolean;
  /** Who has a picture. */
  seen: ReadonlySet<string>;
  /** What is large, and whoever it belongs to is shown in any case. */
  large: readonly string[];
}

/** Who has a place on the stage, and how many others do without one; the stage is never left empty. */
export function castOf(people: readonly Entry<Person>[], { selfHidden, facesOnly, seen, large }: Wish): { cast: Entry<Person>[]; unseen: number } {
  const others = people.filter(({ person }) => !person.you);
  const faces = others.filter(({ person: { identity } }) => seen.has(identity) || large.includes(identity));
  const only = facesOnly && (faces.length > 0 || large.length > 0) ? faces : others;
  const alone = only.length === 0 && large.length === 0;
  const you = people.filter(({ person }) => person.you && (!selfHidden || alone));
  return { cast: [...you, ...only], unseen: others.length - only.length };
}
