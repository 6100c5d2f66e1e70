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

test('a co-host is shown as one and runs breakout rooms, but does not end the room for all', async () => {
  set('invitations_required=true');
  const room = await server.createMeeting({ breakouts: 2 });
  const { invitation_link } = server.request<{ invitation_link: string }>('create_invitation_link', {
    room_id: room.room_id,
    role: 'admin',
  });
  const host = await Person.arrive(browser);
  const cohost = await Person.arrive(browser, { viewport: phone });
  await host.join(room.final_link);
  await cohost.open(invitation_link);
  await cohost.page.getByText('You are a co-host').waitFor();
  await cohost.page.getByLabel('Your name').fill('Ben');
  await cohost.button('Join').click();
  await host.page.getByText('Co-host').first().waitFor();

  await cohost.button('More').click();
  await cohost.button('Breakout rooms').waitFor();
  expect(await cohost.button('End for all…').count()).toBe(0);
  await cohost.button('Breakout rooms').click();
  await cohost.button('Open 2 rooms').click();
  await cohost.button('Close all breakout rooms').waitFor();
  await host.button(/you are in Main room/).waitFor();
  await cohost.seen('phone-light-cohost');

  // The link is theirs alone.
  const other = await Person.arrive(browser);
  await other.open(invitation_link);
  await other.page.getByRole('heading', { name: 'This room is entered with an invitation' }).waitFor();
  for (const person of [host, cohost, other]) await person.close();
});

test('who waits for a room that is cancelled reads that it is', async () => {
  set('invitations_required=false');
  const room = await server.createMeeting({}, { start: new Date(Date.now() + 3 * 60_000) });
  const guest = await Person.arrive(browser, { viewport: phone });
  await guest.open(room.guest_link);
  await guest.page.getByLabel('Your name').fill('Ben');
  await guest.button('Join when it opens').click();
  server.request('end_room', { room_id: room.room_id });
  await guest.page.getByText('It was cancelled before it began.').waitFor({ timeout: 20_000 });
  await guest.seen('phone-light-cancelled');
  guest.wellBehaved(server.url, [/410/]);
  await guest.close();
});
