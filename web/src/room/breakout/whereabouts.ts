import type { Place } from '../info';

/** Somebody whom this page has sent somewhere. */
export interface Sent {
  name: string;
  to: number;
}

interface Named {
  identity: string;
  name: string;
}

export interface Whereabouts extends Named {
  /** A number of a breakout room, 0 for the room itself. */
  place: number;
}

/**
 * Who is where, as far as this page can know: those it sees are here, and those
 * it has sent to a room that is open are there.
 */
export function whereabouts(
  here: number,
  present: readonly Named[],
  sent: ReadonlyMap<string, Sent>,
  open: readonly Place[],
): Whereabouts[] {
  const known = new Set(present.map(({ identity }) => identity));
  const numbers = new Set([0, ...open.map(({ number }) => number)]);
  return [
    ...present.map(({ identity, name }) => ({ identity, name, place: here })),
    ...[...sent]
      .filter(([identity, { to }]) => !known.has(identity) && to !== here && numbers.has(to))
      .map(([identity, { name, to }]) => ({ identity, name, place: to })),
  ].toSorted((a, b) => a.name.localeCompare(b.name));
}

/** Deals people out, one to each room in turn. */
export function evenly(people: readonly Named[], rooms: number): Map<string, number> {
  return new Map(people.map(({ identity }, i) => [identity, i % rooms]));
}
