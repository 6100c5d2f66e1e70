import type { Memory } from '../lib/memory';
import { sha256 } from '../lib/sha256';
import type { Route } from '../route';
import type { Visit } from '../visit/state';
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
 * The seat key of this visit, and which of the browser's tabs is in the room
 * with it.
 *
 * With a link, the key is the browser's: a second tab with the same link is the
 * same person. Without one, every tab that does not choose otherwise is a person
 * of its own: the first holds the browser's key for the room, so that closing
 * and opening the link again returns to the same seat, and each further tab
 * keeps one of its own. While the first is in the room, a further tab is asked
 * whose seat it wants.
 */
export class SeatKeeper {
  readonly key: Promise<string>;
  /** What the key will be unless another tab has it: known at once, where the browser takes its time to say. */
  readonly likely: string;
  /** Whether another tab was in the room with this key when the page was opened. */
  readonly rival: Promise<boolean>;
  readonly #places: Places;
  readonly #fresh: () => string;
  /** Where a guest's key is remembered; null with a link. */
  readonly #slot: string | null;
  /** Lets go of the key, which a guest's tab holds while it is open. */
  #tab: (() => void) | null = null;
  /** Lets go of the place in the room. */
  #room: (() => void) | null = null;

  constructor(route: Route, places: Places, fresh: () => string = newSeatKey) {
    this.#places = places;
    this.#fresh = fresh;
    const slot = `parley.seat.${route.roomId}`;
    if (route.link === null) {
      this.#slot = slot;
      const own = places.tab.get(slot);
      this.likely = isSeatKey(own) ? own : remembered(places.browser, slot, fresh);
      const found = this.#guest(slot);
      this.key = found.then(({ key }) => key);
      this.rival = found.then(({ rival }) => rival);
    } else {
      this.#slot = null;
      // Never the token itself: it must not lie about in storage.
      this.likely = remembered(places.browser, `${slot}.${sha256(route.link).slice(0, 16)}`, fresh);
      this.key = Promise.resolve(this.likely);
      this.rival = this.#isTaken(this.likely);
    }
  }

  /** Holds what the visit needs, so that other tabs can tell. */
  async follow(visit: Visit): Promise<void> {
    const inside = visit.at === 'room';
    const aside = visit.at === 'away' && visit.why === 'elsewhere';
    if (!inside && !aside && !this.#room) return;
    const key = await this.key;
    if (inside) {
      this.#room ??= this.#grip(roomName(key));
      if (this.#slot === null) return;
      // Of the seat that this tab took from another one, too.
      this.#places.tab.set(this.#slot, key);
      this.#tab ??= this.#grip(keyName(key));
      return;
    }
    this.#room?.();
    this.#room = null;
    if (!aside) return;
    this.#tab?.();
    this.#tab = null;
  }

  /** A guest's tab is a person of its own when it is loaded the next time. */
  beSomebodyElse(): void {
    if (this.#slot !== null) this.#places.tab.set(this.#slot, this.#fresh());
  }

  async #guest(slot: string): Promise<{ key: string; rival: boolean }> {
    const { browser, tab } = this.#places;
    const own = tab.get(slot);
    if (isSeatKey(own) && (await this.#keep(own, reloadPatience))) return { key: own, rival: false };

    const shared = isSeatKey(own) ? remembered(browser, slot, this.#fresh) : this.likely;
    if (shared !== own && (await this.#keep(shared, 0))) {
      tab.set(slot, shared);
      return { key: shared, rival: false };
    }
    const theirs = isSeatKey(own) ? own : shared;
    if (await this.#isTaken(theirs)) return { key: theirs, rival: true };
    const mine = this.#fresh();
    tab.set(slot, mine);
    await this.#keep(mine, 0);
    return { key: mine, rival: false };
  }

  async #keep(key: string, patienceMs: number): Promise<boolean> {
    this.#tab = await this.#places.hold(keyName(key), patienceMs);
    return this.#tab !== null;
  }

  async #isTaken(key: string): Promise<boolean> {
    for (const patience of [0, reloadPatience]) {
      const letGo = await this.#places.hold(roomName(key), patience);
      letGo?.();
      if (letGo) return false;
    }
    return true;
  }

  /** Takes a name as soon as the others let go of it. */
  #grip(name: string): () => void {
    let over = false;
    let free: (() => void) | null = null;
    void this.#places.hold(name, Infinity).then((letGo) => {
      if (over) letGo?.();
      else free = letGo;
    });
    return () => {
      over = true;
      free?.();
    };
  }
}

/** What a tab holds that is open with a key. */
function keyName(key: string): string {
  return `parley.seat.${sha256(key).slice(0, 16)}`;
}

/** What a tab holds that is in the room with a key. */
function roomName(key: string): string {
  return `parley.room.${sha256(key).slice(0, 16)}`;
}

function remembered(memory: Memory, slot: string, fresh: () => string): string {
  const known = memory.get(slot);
  if (isSeatKey(known)) return known;
  const key = fresh();
  memory.set(slot, key);
  return key;
}
