import { describe, expect, test } from 'vitest';
import type { Route } from '../route';
import type { KeyValueStorage } from '../state/storage';
import { applyEvents, inside } from '../visit/fixtures';
import { isSeatKey, newSeatKey } from './seatKey';
import { SeatKeyStore } from './seatKeyStore';
import type { TabLock } from './tabLock';

function fakeStorage(): KeyValueStorage & { values: Map<string, string> } {
  const values = new Map<string, string>();
  return { values, get: (key) => values.get(key) ?? null, set: (key, value) => void values.set(key, value) };
}

interface Tab {
  key: string;
  duplicateTab: boolean;
  seatKeyStore: SeatKeyStore;
  tab: ReturnType<typeof fakeStorage>;
  close: () => void;
}

/** A browser with its tabs. */
class Browser {
  readonly fakeStorage = fakeStorage();
  /** Callbacks that wait for a lock, behind its owner. */
  readonly #queues = new Map<string, (() => void)[]>();

  /** Opens a tab: new or, with its storage, reloaded or copied. A reload's timeout is over at once. */
  async open(route: Route, tab = fakeStorage()): Promise<Tab> {
    const heldLocks = new Set<() => void>();
    const lockTab: TabLock = (name, timeoutMs) =>
      new Promise((resolve) => {
        const grant = (): void => {
          const release = (): void => {
            if (heldLocks.delete(release)) this.#grantNext(name);
          };
          heldLocks.add(release);
          resolve(release);
        };
        const queue = this.#queues.get(name);
        if (!queue) {
          this.#queues.set(name, []);
          grant();
        } else if (timeoutMs === Infinity) queue.push(grant);
        else resolve(null);
      });
    const seatKeyStore = new SeatKeyStore(route, { browser: this.fakeStorage, tab, lockTab });
    const close = (): void => {
      for (const release of [...heldLocks]) release();
    };
    return { key: await seatKeyStore.key, duplicateTab: await seatKeyStore.duplicateTab, seatKeyStore, tab, close };
  }

  #grantNext(name: string): void {
    const next = this.#queues.get(name)?.shift();
    if (next) next();
    else this.#queues.delete(name);
  }
}

/** A tab of a new browser that is in the room. */
async function entered(route: Route): Promise<{ browser: Browser; first: Tab }> {
  const browser = new Browser();
  const first = await browser.open(route);
  await first.seatKeyStore.onVisit(inside);
  return { browser, first };
}

const guest: Route = { roomId: 'room-1', link: null };
const host: Route = { roomId: 'room-1', link: 'secret-token' };

describe('a seat key', () => {
  test('is 32 random bytes in Base64url', () => {
    expect(newSeatKey()).toMatch(/^[A-Za-z0-9_-]{43}$/);
    expect(newSeatKey()).not.toBe(newSeatKey());
  });

  test('is validated when it is read from storage', () => {
    expect(isSeatKey(null)).toBe(false);
    expect(isSeatKey('short')).toBe(false);
    expect(isSeatKey('x'.repeat(129))).toBe(false);
    expect(isSeatKey(newSeatKey())).toBe(true);
  });
});

describe('a guest', () => {
  test('returns to the same seat on reload, and when the link is opened again', async () => {
    const browser = new Browser();
    const first = await browser.open(guest);
    first.close();
    const reloaded = await browser.open(guest, first.tab);
    expect(reloaded.key).toBe(first.key);
    reloaded.close();
    expect((await browser.open(guest)).key).toBe(first.key);
  });

  test('is another person in a second tab that was opened before joining, also after a reload', async () => {
    const browser = new Browser();
    const first = await browser.open(guest);
    const second = await browser.open(guest);
    expect(second.key).not.toBe(first.key);
    second.close();
    expect((await browser.open(guest, second.tab)).key).toBe(second.key);
  });

  test('is another person in a copied tab', async () => {
    const browser = new Browser();
    const first = await browser.open(guest);
    const copy = await browser.open(guest, first.tab);
    expect(copy.key).not.toBe(first.key);
  });

  test('has a different key in every room and every browser', async () => {
    const browser = new Browser();
    const here = await browser.open(guest);
    const elsewhere = await browser.open({ roomId: 'room-2', link: null });
    expect(new Set([here.key, elsewhere.key, (await new Browser().open(guest)).key]).size).toBe(3);
  });

  test('gets the expected key when nothing can be stored', async () => {
    const failingStorage: KeyValueStorage = { get: () => null, set: () => undefined };
    const lockTab: TabLock = () => Promise.resolve(() => undefined);
    const seatKeyStore = new SeatKeyStore(guest, { browser: failingStorage, tab: failingStorage, lockTab });
    expect(isSeatKey(await seatKeyStore.key)).toBe(true);
    expect(await seatKeyStore.key).toBe(seatKeyStore.expected);
  });

  test('has the expected key in every tab except a second one', async () => {
    const browser = new Browser();
    const first = await browser.open(guest);
    expect(first.seatKeyStore.expected).toBe(first.key);
    const second = await browser.open(guest);
    expect(second.seatKeyStore.expected).toBe(first.key);
    second.close();
    const again = await browser.open(guest, second.tab);
    expect(again.seatKeyStore.expected).toBe(second.key);
    expect(again.key).toBe(second.key);
    expect((await browser.open(host)).seatKeyStore.expected).toBe((await browser.open(host)).key);
  });

  test('does not use an invalid key from storage', async () => {
    const browser = new Browser();
    browser.fakeStorage.set('parley.seat.room-1', '"><script>');
    expect(isSeatKey((await browser.open(guest)).key)).toBe(true);
  });
});

describe('a visitor with a link', () => {
  test('is the same person in every tab of the browser', async () => {
    const browser = new Browser();
    const first = await browser.open(host);
    expect((await browser.open(host)).key).toBe(first.key);
  });

  test('is not the same person as a guest in the same browser', async () => {
    const browser = new Browser();
    expect((await browser.open(host)).key).not.toBe((await browser.open(guest)).key);
  });

  test('stores no token', async () => {
    const browser = new Browser();
    await browser.open(host);
    const stored = JSON.stringify([...browser.fakeStorage.values]);
    expect(stored).not.toContain('secret-token');
    expect([...browser.fakeStorage.values.keys()]).toEqual([expect.stringMatching(/^parley\.seat\.room-1\.[0-9a-f]{16}$/)]);
  });
});

describe.each([
  ['a guest', guest],
  ['a visitor with a link', host],
])('%s who is in the room', (_, route) => {
  const displaced = applyEvents(inside, { type: 'disconnected', cause: 'elsewhere' });
  const left = applyEvents(inside, { type: 'leave' });

  test('is detected in a second tab, but not in a reloaded one', async () => {
    const { browser, first } = await entered(route);
    const second = await browser.open(route);
    expect(second).toMatchObject({ key: first.key, duplicateTab: true });
    first.close();
    expect(await browser.open(route, first.tab)).toMatchObject({ key: first.key, duplicateTab: false });
  });

  test('is detected in a copied tab', async () => {
    const { browser, first } = await entered(route);
    expect(await browser.open(route, first.tab)).toMatchObject({ key: first.key, duplicateTab: true });
  });

  test('is not detected after leaving', async () => {
    const { browser, first } = await entered(route);
    await first.seatKeyStore.onVisit(left);
    expect(await browser.open(route)).toMatchObject({ duplicateTab: false });
  });

  test('keeps the seat that a second tab took over, also when that tab is reloaded', async () => {
    const { browser, first } = await entered(route);
    const second = await browser.open(route);
    await second.seatKeyStore.onVisit(inside);
    await first.seatKeyStore.onVisit(displaced);
    await Promise.resolve();
    expect(await browser.open(route)).toMatchObject({ duplicateTab: true });
    second.close();
    const reloaded = await browser.open(route, second.tab);
    expect(reloaded).toMatchObject({ key: first.key, duplicateTab: false });
    await reloaded.seatKeyStore.onVisit(inside);
    // The first tab, when reloaded, detects the other one, too.
    expect(await browser.open(route, first.tab)).toMatchObject({ key: first.key, duplicateTab: true });
  });

  test('can take the seat back', async () => {
    const { browser, first } = await entered(route);
    const second = await browser.open(route);
    await second.seatKeyStore.onVisit(inside);
    await first.seatKeyStore.onVisit(displaced);
    await first.seatKeyStore.onVisit(inside);
    await second.seatKeyStore.onVisit(displaced);
    second.close();
    expect(await browser.open(route, second.tab)).toMatchObject({ key: first.key, duplicateTab: true });
  });
});

test('a guest can be another person in a second tab', async () => {
  const { browser, first } = await entered(guest);
  const second = await browser.open(guest);
  second.seatKeyStore.startNewSeat();
  second.close();
  const other = await browser.open(guest, second.tab);
  expect(other.duplicateTab).toBe(false);
  expect(other.key).not.toBe(first.key);
});
