import { afterEach, expect, test, vi } from 'vitest';
import { browserTabLock } from './tabLock';

afterEach(() => vi.unstubAllGlobals());

/** Connects channels of the same name, as a browser does. */
function channels(): typeof BroadcastChannel {
  const open: Channel[] = [];
  class Channel {
    onmessage: ((event: { data: unknown }) => void) | null = null;
    constructor(readonly name: string) {
      open.push(this);
    }
    postMessage(data: unknown): void {
      for (const other of open) {
        if (other !== this && other.name === this.name) setTimeout(() => other.onmessage?.({ data }));
      }
    }
    close(): void {
      open.splice(open.indexOf(this), 1);
    }
  }
  return Channel as unknown as typeof BroadcastChannel;
}

test('without Web Locks, tabs ask each other', async () => {
  vi.stubGlobal('navigator', {});
  vi.stubGlobal('BroadcastChannel', channels());
  const release = await browserTabLock()('seat', 0);
  expect(release).not.toBeNull();
  expect(await browserTabLock()('seat', 0)).toBeNull();
  expect(await browserTabLock()('other seat', 0)).not.toBeNull();
  release?.();
  expect(await browserTabLock()('seat', 0)).not.toBeNull();
});

test('a frame that may not use locks counts as the only tab', async () => {
  const denied = Object.assign(new Error('denied'), { name: 'SecurityError' });
  vi.stubGlobal('navigator', { locks: { request: () => Promise.reject(denied) } });
  for (const timeoutMs of [0, 20, Infinity]) expect(await browserTabLock()('seat', timeoutMs)).not.toBeNull();
});

test('with Web Locks, one tab holds the lock and a reload waits for it', async () => {
  const held = new Set<string>();
  const waiting: (() => void)[] = [];
  const grant = async (name: string, then: (lock: object | null) => unknown): Promise<void> => {
    held.add(name);
    await then({ name });
    held.delete(name);
    waiting.shift()?.();
  };
  vi.stubGlobal('navigator', {
    locks: {
      request(name: string, options: LockOptions, then: (lock: object | null) => unknown): Promise<unknown> {
        if (!held.has(name)) return grant(name, then);
        if (options.ifAvailable) return Promise.resolve(then(null));
        return new Promise((resolve, reject) => {
          waiting.push(() => resolve(grant(name, then)));
          options.signal?.addEventListener('abort', () => reject(new Error('aborted')));
        });
      },
    },
  });
  const hold = browserTabLock();
  const release = await hold('seat', 0);
  expect(release).not.toBeNull();
  expect(await hold('seat', 0)).toBeNull();
  const reload = hold('seat', 5_000);
  const lazyScreens = hold('seat', Infinity);
  release?.();
  const mine = await reload;
  expect(mine).not.toBeNull();
  mine?.();
  expect(await lazyScreens).not.toBeNull();
  expect(await hold('seat', 20)).toBeNull();
});
