import { execFile } from 'node:child_process';
import { join, resolve } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';
import type { Browser } from 'playwright-core';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { fakeDevices, launch, Person } from './browser';
import { Front, Shared } from './cluster';
import { measured } from './measure';
import { binary, Server } from './server';

let shared: Shared;
let front: Front;
let nodes: [Server, Server];
let browser: Browser;

beforeEach(async () => {
  shared = await Shared.start();
  front = await Front.start();
});

/** Starts two nodes behind the front. */
async function startNodes(start: (...flags: string[]) => Promise<Server>): Promise<void> {
  const flags = ['--database-url', shared.databaseURL, '--redis-url', shared.redisURL];
  const first = await start(...flags, '--demo');
  const second = await start(...flags, '--master-key-file', join(first.dataDir, 'master.key'));
  nodes = [first, second];
  front.targets = nodes.map((n) => n.url);
}

afterEach(async () => {
  await browser?.close();
  await front?.close();
  for (const node of nodes ?? []) await node.close();
  await shared?.close();
  vi.unstubAllEnvs();
});

/** Returns the node that hosts the only room. */
function host(): Server {
  const hosting = nodes.filter((n) => n.log.includes('participant.joined'));
  expect(hosting, 'nodes that host the room').toHaveLength(1);
  return hosting[0] as Server;
}

test.each([
  { what: 'is killed', goal: 8_000, suspended: false },
  // The front goes on to send every second connection to the node, which answers none.
  { what: 'stands still', goal: 20_000, suspended: true },
])('people see and hear each other again on the other node when theirs $what', async ({ what, goal, suspended }) => {
  await startNodes((...flags) => Server.start('--public-url', front.url, ...flags));
  browser = await launch();
  const links = nodes[0].demo('video');
  const amina = await Person.arrive(browser);
  const guest = await Person.arrive(browser);
  await amina.join(links.host);
  await guest.join(links.guest, 'Ben');
  const together = () => Promise.all([amina, guest].map(async (p) => [await p.untilHeard(), await p.untilSeen()]));
  await together();

  const node = host();
  const stopped = Date.now();
  const wake = suspended ? node.suspend() : null;
  if (!wake) await node.down('SIGKILL');
  try {
    // Sound and video stop until the page notices the loss, and return afterwards.
    await Promise.all([amina.untilSilent(), guest.untilSilent()]);
    await together();
    measured(`seen and heard again after the node ${what}`, Date.now() - stopped, goal);
    await amina.page.getByText('Ben').first().waitFor();
    await amina.picture(`cluster-node-${suspended ? 'stands-still' : 'killed'}`);
  } finally {
    wake?.();
  }
  // A node that wakes up takes nobody back: it responds again, and has looked at its rooms twice.
  if (wake) {
    await expect.poll(() => fetch(`${node.url}/healthz`).then(({ ok }) => ok)).toBe(true);
    await pause(12_000);
  }
  await together();
  expect(await amina.page.locator('audio[data-identity]').count()).toBe(1);
  await amina.close();
  await guest.close();
});

test('an operator drains a node in the console, and the people in its meeting hear each other on the other one', async () => {
  await startNodes((...flags) => Server.start('--public-url', front.url, ...flags));
  browser = await launch();
  const links = nodes[0].demo('audio');
  const amina = await Person.arrive(browser);
  const ben = await Person.arrive(browser);
  await amina.join(links.host);
  await ben.join(links.guest, 'Ben');
  await Promise.all([amina.untilHeard(), ben.untilHeard()]);

  const operator = await Person.arrive(browser);
  const { page } = operator;
  await page.goto(`${front.url}/console/nodes`);
  await page.getByLabel('Management token').fill(nodes[0].quickstart.admin_token ?? '');
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('heading', { level: 1, name: 'Nodes' }).waitFor();
  const hosting = page.getByRole('row').filter({ has: page.getByRole('cell', { name: '1', exact: true }) });
  await expect.poll(() => hosting.count()).toBe(1);
  const id = (await hosting.getByRole('cell').nth(1).locator('code').textContent()) ?? '';
  const node = page.getByRole('row').filter({ hasText: id });
  await node.getByRole('button', { name: /^Drain / }).click(); // with the whole ID, of which the page shows a part
  const dialog = page.getByRole('dialog', { name: 'Drain the node' });
  await dialog.getByLabel('Time for all meetings').selectOption('At once');
  await operator.seen('console-drain');
  await dialog.getByRole('button', { name: 'Drain the node' }).click();
  await dialog.waitFor({ state: 'hidden' });
  await node.getByText('Draining').waitFor();
  await expect.poll(() => node.getByRole('cell', { name: '1', exact: true }).count()).toBe(0);
  await Promise.all([amina.untilHeard(), ben.untilHeard()]);
  // The only node that hosts cannot be drained.
  expect(await page.getByRole('button', { name: /^Drain / }).count()).toBe(0);
  await node.getByRole('button', { name: 'Cancel the drain' }).click();
  const cancel = page.getByRole('dialog', { name: 'Cancel the drain?' });
  await cancel.getByRole('button', { name: 'Keep draining' }).waitFor();
  await cancel.getByRole('button', { name: 'Cancel the drain' }).click();
  await node.getByText('Live').waitFor();
  await operator.seen('console-nodes');
  for (const person of [amina, ben, operator]) await person.close();
});

test('a person over TURN stays in the room when the node that relays their media is drained', async () => {
  vi.stubEnv('NODE_TLS_REJECT_UNAUTHORIZED', '0');
  vi.stubEnv('SSL_CERT_FILE', resolve(import.meta.dirname, 'certificate/cert.pem')); // for the command
  const publicURL = front.url.replace('http://127.0.0.1', 'https://localhost');
  await startNodes((...flags) => Server.startSecureNode(publicURL, ...flags));
  browser = await launch([...fakeDevices, '--ignore-certificate-errors']);
  const links = nodes[0].demo('audio');
  const amina = await Person.arrive(browser);
  const ben = await Person.arrive(browser);
  await ben.useOnly('turns:');
  await ben.page.addInitScript(watchSound);
  await amina.join(links.host);
  await amina.page.getByRole('button', { name: 'More' }).waitFor();
  const node = host();
  const relaying = nodes.find((n) => n !== node) as Server;
  front.targets = [relaying.url];
  await ben.join(links.guest, 'Ben');
  await Promise.all([amina.untilHeard(), ben.untilHeard()]);

  const list = async () =>
    (JSON.parse(await parley(node, 'node', 'list', '--json')) as { node: string; this_node: boolean; relayed_people: number }[]).find(
      ({ this_node }) => !this_node,
    );
  await expect.poll(async () => (await list())?.relayed_people).toBe(1);
  front.targets = [node.url]; // as a load balancer does when /healthz is 503
  await ben.page.evaluate(() => {
    (globalThis as unknown as Watched).longestPause = 0;
  });
  const id = (await list())?.node ?? '';
  expect(await parley(node, 'drain', id, '--within', '0s')).toContain('Nobody is in a meeting on the node');
  await Promise.all([amina.untilHeard(), ben.untilHeard()]);
  const pause = await ben.page.evaluate(() => (globalThis as unknown as Watched).longestPause);
  measured('longest pause of the sound while the relay moved to the other node', pause, 3_000);
  await relaying.down('SIGTERM');
  await Promise.all([amina.untilHeard(), ben.untilHeard()]);
  await amina.close();
  await ben.close();
});

test('a shared screen and its sound go on when the node of its meeting is drained', async () => {
  await startNodes((...flags) => Server.start('--public-url', front.url, ...flags));
  browser = await launch();
  const links = nodes[0].demo('video');
  const amina = await Person.arrive(browser);
  const ben = await Person.arrive(browser);
  await amina.join(links.host);
  await ben.join(links.guest, 'Ben');
  await amina.button('Mute').click();
  await ben.untilSilent();
  await amina.button('Share screen').click();
  const frames = (): Promise<number> =>
    ben.page.locator('.tile.share video').evaluate((video) => (video as HTMLVideoElement).getVideoPlaybackQuality().totalVideoFrames);
  const untilShared = async (): Promise<void> => {
    const before = await frames();
    await expect.poll(frames).not.toBe(before); // a new track begins with 0
    await ben.untilHeard(); // Chromium's fake screen has a sound, and Amina is muted
  };
  await untilShared();

  const node = host();
  const other = nodes.find((n) => n !== node) as Server;
  front.targets = [other.url]; // as a load balancer does when /healthz is 503
  const list = JSON.parse(await parley(node, 'node', 'list', '--json')) as { node: string; this_node: boolean }[];
  const id = list.find(({ this_node }) => this_node)?.node ?? '';
  expect(await parley(node, 'drain', id, '--within', '0s')).toContain('Nobody is in a meeting on the node');
  await node.down('SIGTERM');
  await untilShared();
  await expect.poll(() => ben.page.locator('.tile.share').innerText()).toContain('Host’s screen');
  await ben.seen('cluster-share-after-drain');
  await amina.button('Stop sharing').click();
  await ben.page.locator('.tile.share').waitFor({ state: 'detached' });
  for (const person of [amina, ben]) await person.close();
});

/** Runs a command against a node. */
async function parley(node: Server, ...args: string[]): Promise<string> {
  const { stdout, stderr } = await promisify(execFile)(binary, [...args, '--url', node.url, '--data-dir', nodes[0].dataDir]);
  return stdout + stderr;
}

/** What watchSound stores in the page. */
interface Watched {
  /** The longest time in milliseconds in which no packet of sound arrived. */
  longestPause: number;
}

/** Measures the pauses of the sound that a page receives. Runs in the page. */
function watchSound(): void {
  const watched = globalThis as unknown as Watched;
  const connections: RTCPeerConnection[] = [];
  globalThis.RTCPeerConnection = class extends RTCPeerConnection {
    constructor(configuration?: RTCConfiguration) {
      super(configuration);
      connections.push(this);
    }
  };
  const received = new Map<string, number>();
  let last = performance.now();
  watched.longestPause = 0;
  setInterval(async () => {
    for (const [i, connection] of connections.entries()) {
      for (const entry of (await connection.getStats()).values() as Iterable<RTCStats & { kind?: string; packetsReceived?: number }>) {
        if (entry.type !== 'inbound-rtp' || entry.kind !== 'audio') continue;
        const key = `${i} ${entry.id}`;
        if (entry.packetsReceived !== received.get(key)) last = performance.now();
        received.set(key, entry.packetsReceived ?? 0);
      }
    }
    watched.longestPause = Math.max(watched.longestPause, performance.now() - last);
  }, 50);
}
