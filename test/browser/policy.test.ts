import { execFileSync } from 'node:child_process';
import { resolve } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Browser } from 'playwright-core';
import { launch, Person, phone } from './browser';
import { Server } from './server';

let server: Server;
let browser: Browser;

beforeAll(async () => {
  server = await Server.start();
  browser = await launch();
});

afterAll(async () => {
  await browser.close();
  await server.close();
});

/** Changes settings of the project, as its operator does. */
function set(...settings: string[]): void {
  execFileSync(resolve(import.meta.dirname, '../../bin/parley'), [
    'project', 'set', server.quickstart.project_id ?? '', ...settings, '--data-dir', server.dataDir,
  ]);
}

test('what somebody may not use is not offered to them, and no device of theirs runs', async () => {
  set('features.screen_share=false', 'locks.camera=true');
  const room = await server.createMeeting({});
  const host = await Person.arrive(browser);
  const guest = await Person.arrive(browser);
  await host.join(room.final_link);
  await guest.join(room.guest_link, 'Ben');
  await Promise.all([host.untilHeard(), guest.untilHeard()]);

  await host.button('Stop camera').waitFor();
  await guest.button('Mute').waitFor();
  expect(await guest.button(/camera/).count()).toBe(0);
  for (const person of [host, guest]) expect(await person.button('Share screen').count()).toBe(0);
  // One picture on either page, and it is the host's.
  for (const person of [host, guest]) await expect.poll(() => person.page.locator('video').count()).toBe(1);
  await guest.seen('desktop-light-locked');
  for (const person of [host, guest]) {
    person.wellBehaved(server.url);
    await person.close();
  }
});

test('a room for invited people says so to others, and what to do', async () => {
  set('invitations_required=true');
  const room = await server.createMeeting({});
  const stranger = await Person.arrive(browser, { viewport: phone });
  await stranger.open(room.guest_link);
  await stranger.page.getByRole('heading', { name: 'This room is entered with an invitation' }).waitFor();
  await stranger.seen('phone-light-invitation');

  const host = await Person.arrive(browser);
  await host.join(room.final_link);
  stranger.wellBehaved(server.url, [/403/]);
  await stranger.close();
  await host.close();
});
