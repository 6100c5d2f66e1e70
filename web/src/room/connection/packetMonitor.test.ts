import type { Room } from 'livekit-client';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { PacketMonitor } from './packetMonitor';

/** A connection on which 50 packets a second come while `flows` is set, and a server that responds while `responds` is set. */
const world = { flows: true, responds: true, hidden: false, dead: 0, probes: 0 };
let monitor: PacketMonitor;

beforeEach(() => {
  vi.useFakeTimers();
  Object.assign(world, { flows: true, responds: true, hidden: false, dead: 0, probes: 0 });
  vi.stubGlobal('document', {
    get hidden() {
      return world.hidden;
    },
  });
  vi.stubGlobal('fetch', (_: string, init: RequestInit) => {
    world.probes++;
    if (world.responds) return Promise.resolve(new Response(''));
    return new Promise((_resolve, reject) => init.signal?.addEventListener('abort', () => reject(new DOMException('', 'AbortError'))));
  });
  let received = 0;
  setInterval(() => {
    if (world.flows) received++;
  }, 20);
  const getStats = () =>
    Promise.resolve(new Map([['a', { type: 'candidate-pair', packetsReceived: received, requestsReceived: 0, responsesReceived: 0 }]]));
  const sent = new Map([['mic', { track: {}, isMuted: false, isEnabled: true }]]);
  const room = {
    engine: { pcManager: { subscriber: { getStats } } },
    localParticipant: { trackPublications: sent },
    remoteParticipants: new Map(),
  };
  monitor = new PacketMonitor(room as unknown as Room, () => world.dead++);
  monitor.start();
});

afterEach(() => {
  monitor.stop();
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

const pass = (ms: number): Promise<unknown> => vi.advanceTimersByTimeAsync(ms);

describe('a connection without packets', () => {
  test('is silent after two seconds, and given up when the server responds to requests', async () => {
    await pass(3_000);
    expect(monitor.silent.get()).toBe(false);
    world.flows = false;
    await pass(3_000);
    expect(monitor.silent.get()).toBe(true);
    expect([world.dead, world.probes]).toEqual([0, 0]);
    await pass(4_000);
    expect([world.dead, world.probes]).toEqual([1, 6]);
    await pass(20_000);
    expect([world.dead, world.probes]).toEqual([1, 6]);
  });

  test('is kept while the server is unreachable, too, and when both come back at the same time', async () => {
    await pass(3_000);
    world.flows = world.responds = false;
    await pass(14_000);
    expect(monitor.silent.get()).toBe(true);
    world.flows = world.responds = true;
    await pass(10_000);
    expect(monitor.silent.get()).toBe(false);
    expect(world.dead).toBe(0);
  });

  test('is kept in a hidden page', async () => {
    await pass(3_000);
    world.flows = false;
    world.hidden = true;
    await pass(60_000);
    expect([world.dead, world.probes]).toEqual([0, 0]);
  });

  test('is not given up after the page has left', async () => {
    await pass(3_000);
    world.flows = false;
    await pass(5_000);
    monitor.stop();
    await pass(20_000);
    expect(world.dead).toBe(0);
  });
});
