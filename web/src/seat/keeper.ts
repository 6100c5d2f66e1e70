import type { Memory } from '../lib/memory';
import { sha256 } from '../lib/sha256';
import type { Route } from '../route';
import type { Hold } from './hold';
import { isSeatKey, newSeatKey } from './key';

export interface Places {
  browser: Memory;
  tab: Memory;
  hold: Hold;
}

/** A reload can ask before the old page has let go; a copied tab never gets it. */
const reloadPatience = 1_000;

/**
 * The seat key of this visit.
 *
 * With a link, it is the browser's: a second tab with the same link is the same
 * person. Without one, every tab is a person of its own: the first holds the
 * browser's key for the room, so that closing and opening the link again
 * returns to the same seat, and each further tab keeps one of its own.
 */
export async function seatKeyFor(route: Route, places: Places, fresh: () => string = newSeatKey): Promise<string> {
  if (route.link !== null) {
    // Never the token itself: it must not lie about in storage.
    return remembered(places.browser, `parley.seat.${route.roomId}.${sha256(route.link).slice(0, 16)}`, fresh);
  }
  const slot = `parley.seat.${route.roomId}`;
  const own = places.tab.get(slot);
  if (isSeatKey(own) && (await places.hold(lockName(own), reloadPatience))) return own;

  const shared = remembered(places.browser, slot, fresh);
  if (shared !== own && (await places.hold(lockName(shared), 0))) {
    places.tab.set(slot, shared);
    return shared;
  }
  const mine = fresh();
  places.tab.set(slot, mine);
  await places.hold(lockName(mine), 0);
  return mine;
}

function lockName(key: string): string {
  return `parley.seat.${sha256(key).slice(0, 16)}`;
}

function remembered(memory: Memory, slot: string, fresh: () => string): string {
  const known = memory.get(slot);
  if (isSeatKey(known)) return known;
  const key = fresh();
  memory.set(slot, key);
  return key;
}
