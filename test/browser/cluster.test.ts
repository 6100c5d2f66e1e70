import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { Browser } from 'playwright-core';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { launch, Person } from './browser';
import { Front, Shared } from './cluster';
import { measured } from './measure';
import { Server } from './server';

let shared: Shared;
let front: Front;
let nodes: [Server, Server];
let browser: Browser;

beforeEach(async () => {
  shared = await Shared.start();
  front = await Front.start();
  const flags = ['--database-url', shared.databaseURL, '--redis-url', shared.redisURL, '--public-url', front.url];
  const first = await Server.start(...flags, '--demo');
  const second = await Server.start(...flags, '--master-key-file', join(first.dataDir, 'master.key'));
  nodes = [first, second];
  front.targets = nodes.map((n) => n.url);
  browser = await launch();
});

afterEach(async () => {
  await browser?.close();
  await front?.close();
  for (const node of nodes ?? []) await node.close();
  await shared?.close();
});

test.each([
  { what: 'is killed', goal: 8_000, suspended: false },
  // The front goes on to send every second connection to the node, which answers none.
  { what: 'stands still', goal: 20_000, suspended: true },
])('people see and hear each other again on the other node when theirs $what', async ({ what, goal, suspended }) => {
  const links = nodes[0].demo('video');
  const host = await Person.arrive(browser);
  const guest = await Person.arrive(browser);
  await host.join(links.host);
  await guest.join(links.guest, 'Ben');
  const together = () => Promise.all([host, guest].map(async (p) => [await p.untilHeard(), await p.untilSeen()]));
  await together();

  const hosting = nodes.filter((n) => n.log.includes('participant.joined'));
  expect(hosting, 'nodes that host the room').toHaveLength(1);
  const [node] = hosting as [Server];
  const stopped = Date.now();
  const wake = suspended ? node.suspend() : null;
  if (!wake) await node.down('SIGKILL');
  try {
    // Sound and video stop until the page notices the loss, and return afterwards.
    await Promise.all([host.untilSilent(), guest.untilSilent()]);
    await together();
    measured(`seen and heard again after the node ${what}`, Date.now() - stopped, goal);
    await host.page.getByText('Ben').first().waitFor();
    await host.picture(`cluster-node-${suspended ? 'stands-still' : 'killed'}`);
  } finally {
    wake?.();
  }
  // A node that wakes up takes nobody back: it responds again, and has looked at its rooms twice.
  if (wake) {
    await expect.poll(() => fetch(`${node.url}/healthz`).then(({ ok }) => ok)).toBe(true);
    await pause(12_000);
  }
  await together();
  expect(await host.page.locator('audio[data-identity]').count()).toBe(1);
  await host.close();
  await guest.close();
});

test('an operator drains a node in the console, and the people in its meeting hear each other on the other one', async () => {
  const links = nodes[0].demo('audio');
  const host = await Person.arrive(browser);
  const guest = await Person.arrive(browser);
  await host.join(links.host);
  await guest.join(links.guest, 'Ben');
  await Promise.all([host.untilHeard(), guest.untilHeard()]);

  const operator = await Person.arrive(browser);
  const { page } = operator;
  await page.goto(`${front.url.replace('127.0.0.1', 'localhost')}/console/nodes`);
  await page.getByLabel('Management token').fill(nodes[0].quickstart.admin_token ?? '');
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('heading', { level: 1, name: 'Nodes' }).waitFor();
  const hosting = page.getByRole('row').filter({ has: page.getByRole('cell', { name: '1', exact: true }) });
  await expect.poll(() => hosting.count()).toBe(1);
  const id = (await hosting.getByRole('cell').nth(1).locator('code').textContent()) ?? '';
  const node = page.getByRole('row').filter({ hasText: id });
  await node.getByRole('button', { name: `Drain ${id}` }).click();
  const dialog = page.getByRole('dialog', { name: 'Drain the node' });
  await dialog.getByLabel('Time for all meetings').selectOption('At once');
  await operator.seen('console-drain');
  await dialog.getByRole('button', { name: 'Drain the node' }).click();
  await node.getByText('Draining').waitFor();
  await expect.poll(() => node.getByRole('cell', { name: '1', exact: true }).count()).toBe(0);
  await Promise.all([host.untilHeard(), guest.untilHeard()]);
  // The only node that hosts cannot be drained.
  expect(await page.getByRole('button', { name: /^Drain / }).count()).toBe(0);
  await node.getByRole('button', { name: 'Cancel the drain' }).click();
  const cancel = page.getByRole('dialog', { name: 'Cancel the drain?' });
  await cancel.getByRole('button', { name: 'Keep draining' }).waitFor();
  await cancel.getByRole('button', { name: 'Cancel the drain' }).click();
  await node.getByText('Live').waitFor();
  await operator.seen('console-nodes');
  for (const person of [host, guest, operator]) await person.close();
});
