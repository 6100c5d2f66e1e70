import { describe, expect, test } from 'vitest';
import type { Memory } from '../lib/memory';
import type { Route } from '../route';
import type { Hold } from './hold';
import { isSeatKey, newSeatKey } from './key';
import { seatKeyFor } from './keeper';

function memory(): Memory & { values: Map<string, string> } {
  const values = new Map<string, string>();
  return { values, get: (key) => values.get(key) ?? null, set: (key, value) => void values.set(key, value) };
}

/** One browser with its tabs; `held` are the locks of tabs that are open. */
class Browser {
  readonly memory = memory();
  readonly held = new Set<string>();

  /** A tab, new or (with its memory) reloaded or copied. */
  async open(route: Route, tab = memory()): Promise<{ key: string; tab: typeof tab; close: () => void }> {
    const mine: string[] = [];
    const hold: Hold = (name) => {
      if (this.held.has(name)) return Promise.resolve(false);
      this.held.add(name);
      mine.push(name);
      return Promise.resolve(true);
    };
    const key = await seatKeyFor(route, { browser: this.memory, tab, hold });
    return { key, tab, close: () => mine.forEach((name) => this.held.delete(name)) };
  }
}

const guest: Route = { roomId: 'room-1', link: null };
const host: Route = { roomId: 'room-1', link: 'secret-token' };

describe('a seat key', () => {
  test('is 32 random bytes in Base64url', () => {
    expect(newSeatKey()).toMatch(/^[A-Za-z0-9_-]{43}$/);
    expect(newSeatKey()).not.toBe(newSeatKey());
  });

  test('is not taken from storage in any form', () => {
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

  test('is another person in a second tab, and stays so on reload', async () => {
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

  test('has another key in every room and every browser', async () => {
    const browser = new Browser();
    const here = await browser.open(guest);
    const elsewhere = await browser.open({ roomId: 'room-2', link: null });
    expect(new Set([here.key, elsewhere.key, (await new Browser().open(guest)).key]).size).toBe(3);
  });

  test('gets a key of its own where nothing can be stored', async () => {
    const forgetful: Memory = { get: () => null, set: () => undefined };
    const key = await seatKeyFor(guest, { browser: forgetful, tab: forgetful, hold: () => Promise.resolve(true) });
    expect(isSeatKey(key)).toBe(true);
  });

  test('never trusts what somebody else has put into storage', async () => {
    const browser = new Browser();
    browser.memory.set('parley.seat.room-1', '"><script>');
    expect(isSeatKey((await browser.open(guest)).key)).toBe(true);
  });
});

describe('a visitor with a link', () => {
  test('is the same person in every tab of the browser', async () => {
    const browser = new Browser();
    const first = await browser.open(host);
    expect((await browser.open(host)).key).toBe(first.key);
  });

  test('is somebody else than the guest beside them', async () => {
    const browser = new Browser();
    expect((await browser.open(host)).key).not.toBe((await browser.open(guest)).key);
  });

  test('leaves no token in storage', async () => {
    const browser = new Browser();
    await browser.open(host);
    const stored = JSON.stringify([...browser.memory.values]);
    expect(stored).not.toContain('secret-token');
    expect([...browser.memory.values.keys()]).toEqual([expect.stringMatching(/^parley\.seat\.room-1\.[0-9a-f]{16}$/)]);
  });
});
