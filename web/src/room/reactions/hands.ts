import { distinctNames } from '../people/distinctNames';

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

/** A hand that is raised in another room of the meeting. */
export interface HandElsewhere {
  identity: string;
  name: string;
  /** The name of that room. */
  roomName: string;
  /** Its number; 0 is the main room. */
  roomNumber: number;
  you: false;
}

interface Listed {
  identity: string;
  name: string;
  breakout: number;
  hand?: number | undefined;
}

/** Returns the hands in other rooms than `here`, in the server's order. */
export function handsElsewhere(
  people: readonly Listed[],
  here: number,
  rooms: readonly { number: number; name: string }[],
): HandElsewhere[] {
  return distinctNames(people)
    .filter(({ hand, breakout }) => hand !== undefined && breakout !== here)
    .sort((a, b) => (a.hand ?? 0) - (b.hand ?? 0))
    .flatMap(({ identity, name, breakout }) => {
      const room = rooms.find(({ number }) => number === breakout);
      return room ? { identity, name, roomName: room.name, roomNumber: room.number, you: false as const } : [];
    });
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
