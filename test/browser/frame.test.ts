import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type Server as WebServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { resolve } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Browser } from 'playwright-core';
import { launch, Person } from './browser';
import { Server } from './server';

let server: Server;
let browser: Browser;
let other: WebServer;

beforeAll(async () => {
  server = await Server.start();
  browser = await launch();
  // Another site, whose pages show in a frame what follows their "?".
  other = createServer((request, answer) => {
    const shown = decodeURIComponent((request.url ?? '').replace(/^[^?]*\??/, ''));
    answer.setHeader('Content-Type', 'text/html');
    answer.end(`<!doctype html><iframe src="${shown}" width="1000" height="700" allow="camera; microphone; display-capture; autoplay"></iframe>`);
  }).listen(0, '127.0.0.1');
  await once(other, 'listening');
});

afterAll(async () => {
  await browser.close();
  await server.close();
  other.close();
});

test('a room is shown in a frame by whom its project names, and by nobody else', async () => {
  const room = await server.createRoom({ max_participants: 2 });
  const site = `http://localhost:${(other.address() as AddressInfo).port}`;
  const page = `${site}/?${encodeURIComponent(room.final_link)}`;

  const stranger = await Person.arrive(browser);
  await stranger.open(page);
  await expect.poll(() => stranger.complaints.join()).toContain('frame-ancestors');
  await stranger.close();

  execFileSync(resolve(import.meta.dirname, '../../bin/parley'), [
    'project', 'set', server.quickstart.project_id ?? '', `embed_origins=${site}`, '--data-dir', server.dataDir,
  ]);
  const framed = await Person.arrive(browser);
  await framed.open(page);
  const inside = framed.page.frameLocator('iframe');
  await inside.getByRole('button', { name: 'Join', exact: true }).click();
  await inside.getByText('You are the first one here').waitFor();

  // What the frame says is heard: it may use the microphone.
  const guest = await Person.arrive(browser);
  await guest.join(room.guest_link, 'Benedikta');
  await guest.untilHeard();
  await guest.close();
  await framed.close();
});
