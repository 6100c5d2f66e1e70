import { join } from 'node:path';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { launch, Person } from './browser';
import { Front, Shared } from './cluster';
import { measured } from './measure';
import { Server } from './server';

let shared: Shared;
let front: Front;
let nodes: [Server, Server];
let browser: Browser;

beforeAll(async () => {
  shared = await Shared.start();
  front = await Front.start();
  const flags = ['--database-url', shared.databaseURL, '--redis-url', shared.redisURL, '--public-url', front.url];
  const first = await Server.start(...flags, '--demo');
  const second = await Server.start(...flags, '--master-key-file', join(first.dataDir, 'master.key'));
  nodes = [first, second];
  front.targets = nodes.map((n) => n.url);
  browser = await launch();
});

afterAll(async () => {
  await browser?.close();
  await front?.close();
  for (const node of nodes ?? []) await node.close();
  await shared?.close();
});

test('see and hear each other again on the other node when theirs is killed, without touching the page', async () => {
  const links = nodes[0].demo('video');
  const host = await Person.arrive(browser);
  const guest = await Person.arrive(browser);
  await host.join(links.host);
  await guest.join(links.guest, 'Ben');
  const together = () => Promise.all([host, guest].map(async (p) => [await p.untilHeard(20_000), await p.untilSeen(20_000)]));
  await together();

  const hosting = nodes.find((n) => n.log.includes('participant.joined'));
  expect(
    nodes.filter((n) => n.log.includes('participant.joined')),
    'nodes that host the room',
  ).toHaveLength(1);
  const killed = Date.now();
  await hosting?.down('SIGKILL');
  // Sound and video stop until the page notices the loss, and return afterwards.
  await Promise.all([host.untilSilent(), guest.untilSilent()]);
  await together();
  measured('seen and heard again after the node was killed', Date.now() - killed, 8_000);
  await host.page.getByText('Ben').first().waitFor();
  await host.picture('cluster-after-kill');
  await host.close();
  await guest.close();
});
