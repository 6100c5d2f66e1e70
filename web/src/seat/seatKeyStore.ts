import type { Route } from '../route';
import type { KeyValueStorage } from '../state/storage';
import type { Visit } from '../visit/state';
import { isSeatKey, newSeatKey } from './seatKey';
import { sha256 } from './sha256';
import type { TabLock } from './tabLock';

export interface SeatKeyDeps {
  browser: KeyValueStorage;
  tab: KeyValueStorage;
  lockTab: TabLock;
}

/** A reloaded page may ask before the old page has released the lock; a copied tab never gets it. */
const reloadTimeoutMs = 1_000;

/**
 * The seat key of this visit, and the detection of other tabs that use it. With a link,
 * the key belongs to the browser: a second tab with the same link is the same person.
 * Without a link, every tab is a person of its own by default: the first tab uses the
 * browser's key for the room, so that opening the link again returns to the same seat, and
 * each further tab gets its own key. While the first tab is in the room, a further tab
 * asks the visitor which seat to use.
 */
export class SeatKeyStore {
  readonly key: Promise<string>;
  /** The key unless another tab uses it. It is known at once, while locks take time. */
  readonly expected: string;
  /** Whether another tab was in the room with this key when the page was opened. */
  readonly duplicateTab: Promise<boolean>;
  readonly #deps: SeatKeyDeps;
  readonly #generateKey: () => string;
  /** The storage key of a guest's seat key; null with a link. */
  readonly #storageKey: string | null;
  /** Releases the lock on the key, which a guest's tab holds while it is open. */
  #releaseKey: (() => void) | null = null;
  /** Releases the lock that says that this tab is in the room. */
  #releaseRoom: (() => void) | null = null;

  constructor(route: Route, deps: SeatKeyDeps, generateKey: () => string = newSeatKey) {
    this.#deps = deps;
    this.#generateKey = generateKey;
    const storageKey = `parley.seat.${route.roomId}`;
    if (route.link === null) {
      this.#storageKey = storageKey;
      const tabKey = deps.tab.get(storageKey);
      this.expected = isSeatKey(tabKey) ? tabKey : loadOrCreateKey(deps.browser, storageKey, generateKey);
      const resolved = this.#resolveGuestKey(storageKey);
      this.key = resolved.then(({ key }) => key);
      this.duplicateTab = resolved.then(({ duplicateTab }) => duplicateTab);
    } else {
      this.#storageKey = null;
      // A hash, because the token itself must not be stored.
      this.expected = loadOrCreateKey(deps.browser, `${storageKey}.${sha256(route.link).slice(0, 16)}`, generateKey);
      this.key = Promise.resolve(this.expected);
      this.duplicateTab = this.#isInUse(this.expected);
    }
  }

  /** Acquires and releases the locks for a state of the visit, so that other tabs can detect it. */
  async onVisit(visit: Visit): Promise<void> {
    const inside = visit.at === 'room';
    const displaced = visit.at === 'left' && visit.reason === 'elsewhere';
    if (!inside && !displaced && !this.#releaseRoom) return;
    const key = await this.key;
    if (inside) {
      this.#releaseRoom ??= this.#lockWhenFree(roomLockName(key));
      if (this.#storageKey === null) return;
      // Also for a seat that this tab took over from another tab.
      this.#deps.tab.set(this.#storageKey, key);
      this.#releaseKey ??= this.#lockWhenFree(keyLockName(key));
      return;
    }
    this.#releaseRoom?.();
    this.#releaseRoom = null;
    if (!displaced) return;
    this.#releaseKey?.();
    this.#releaseKey = null;
  }

  /** Makes this tab another person when it is loaded the next time. Only for guests. */
  startNewSeat(): void {
    if (this.#storageKey !== null) this.#deps.tab.set(this.#storageKey, this.#generateKey());
  }

  async #resolveGuestKey(storageKey: string): Promise<{ key: string; duplicateTab: boolean }> {
    const { browser, tab } = this.#deps;
    const tabKey = tab.get(storageKey);
    if (isSeatKey(tabKey) && (await this.#lockKey(tabKey, reloadTimeoutMs))) return { key: tabKey, duplicateTab: false };

    const browserKey = isSeatKey(tabKey) ? loadOrCreateKey(browser, storageKey, this.#generateKey) : this.expected;
    if (browserKey !== tabKey && (await this.#lockKey(browserKey, 0))) {
      tab.set(storageKey, browserKey);
      return { key: browserKey, duplicateTab: false };
    }
    const existing = isSeatKey(tabKey) ? tabKey : browserKey;
    if (await this.#isInUse(existing)) return { key: existing, duplicateTab: true };
    const newKey = this.#generateKey();
    tab.set(storageKey, newKey);
    await this.#lockKey(newKey, 0);
    return { key: newKey, duplicateTab: false };
  }

  async #lockKey(key: string, timeoutMs: number): Promise<boolean> {
    this.#releaseKey = await this.#deps.lockTab(keyLockName(key), timeoutMs);
    return this.#releaseKey !== null;
  }

  async #isInUse(key: string): Promise<boolean> {
    for (const timeoutMs of [0, reloadTimeoutMs]) {
      const release = await this.#deps.lockTab(roomLockName(key), timeoutMs);
      release?.();
      if (release) return false;
    }
    return true;
  }

  /** Acquires a lock as soon as it is free. Returns a function that releases it. */
  #lockWhenFree(name: string): () => void {
    let released = false;
    let releaseHeld: (() => void) | null = null;
    void this.#deps.lockTab(name, Infinity).then((release) => {
      if (released) release?.();
      else releaseHeld = release;
    });
    return () => {
      released = true;
      releaseHeld?.();
    };
  }
}

/** The lock of a tab that is open with a key. */
function keyLockName(key: string): string {
  return `parley.seat.${sha256(key).slice(0, 16)}`;
}

/** The lock of a tab that is in the room with a key. */
function roomLockName(key: string): string {
  return `parley.room.${sha256(key).slice(0, 16)}`;
}

function loadOrCreateKey(storage: KeyValueStorage, storageKey: string, generateKey: () => string): string {
  const stored = storage.get(storageKey);
  if (isSeatKey(stored)) return stored;
  const key = generateKey();
  storage.set(storageKey, key);
  return key;
}
