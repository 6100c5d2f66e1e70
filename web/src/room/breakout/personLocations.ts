import type { Role } from '../../api/client';
import { distinctNames } from '../people/distinctNames';

interface KnownPerson {
  identity: string;
  name: string;
  role: Role;
}

export interface PersonLocation extends KnownPerson {
  /** The number of a breakout room; 0 is the main room. */
  breakout: number;
}

/** Returns the people that the page sees, in this room: without the server it knows no other room. */
export function localLocations(present: readonly KnownPerson[], breakout: number): PersonLocation[] {
  return byName(present.map(({ identity, name, role }) => ({ identity, name, role, breakout })));
}

/** Returns all people except you, in the rooms that the server reports. */
export function serverLocations(people: readonly (KnownPerson & { breakout: number })[], you: string): PersonLocation[] {
  const others = distinctNames(people).filter(({ identity }) => identity !== you);
  return byName(others.map(({ identity, name, role, breakout }) => ({ identity, name, role, breakout })));
}

const byName = (people: PersonLocation[]): PersonLocation[] =>
  [...people].sort((a, b) => a.name.localeCompare(b.name) || a.identity.localeCompare(b.identity));

/** Assigns the people to the rooms in turn. */
export function assignEvenly(people: readonly { identity: string }[], rooms: number): Map<string, number> {
  return new Map(people.map(({ identity }, i) => [identity, i % rooms]));
}
