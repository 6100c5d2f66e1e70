import type { Role } from '../../api/client';

interface Known {
  identity: string;
  name: string;
  role: Role;
}

export interface Whereabouts extends Known {
  /** The number of a breakout room, 0 for the room itself. */
  place: number;
}

/** What a page can tell by itself: those it sees are here. */
export function seenHere(seen: readonly Known[], here: number): Whereabouts[] {
  return byName(seen.map(({ identity, name, role }) => ({ identity, name, role, place: here })));
}

/** What the server tells: everybody else, where they belong. */
export function toldOf(people: readonly (Known & { breakout: number })[], you: string): Whereabouts[] {
  const others = people.filter(({ identity }) => identity !== you);
  return byName(others.map(({ identity, name, role, breakout }) => ({ identity, name, role, place: breakout })));
}

const byName = (people: Whereabouts[]): Whereabouts[] =>
  people.toSorted((a, b) => a.name.localeCompare(b.name) || a.identity.localeCompare(b.identity));

/** Deals people out, one to each room in turn. */
export function evenly(people: readonly { identity: string }[], rooms: number): Map<string, number> {
  return new Map(people.map(({ identity }, i) => [identity, i % rooms]));
}
