import type { Role } from '../../api/client';

interface KnownPerson {
  identity: string;
  name: string;
  role: Role;
}

export interface PersonLocation extends KnownPerson {
  /** The number of a breakout room, 0 for the room itself. */
  breakout: number;
}

/** What a page can tell by itself: those it sees are here. */
export function localLocations(present: readonly KnownPerson[], breakout: number): PersonLocation[] {
  return byName(present.map(({ identity, name, role }) => ({ identity, name, role, breakout })));
}

/** What the server tells: everybody else, where they belong. */
export function serverLocations(people: readonly (KnownPerson & { breakout: number })[], you: string): PersonLocation[] {
  const others = people.filter(({ identity }) => identity !== you);
  return byName(others.map(({ identity, name, role, breakout }) => ({ identity, name, role, breakout })));
}

const byName = (people: PersonLocation[]): PersonLocation[] =>
  people.toSorted((a, b) => a.name.localeCompare(b.name) || a.identity.localeCompare(b.identity));

/** Deals people out, one to each room in turn. */
export function assignEvenly(people: readonly { identity: string }[], rooms: number): Map<string, number> {
  return new Map(people.map(({ identity }, i) => [identity, i % rooms]));
}
