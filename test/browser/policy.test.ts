import { expect, test } from 'vitest';
import { Person, phone } from './browser';
import { browser, closeAll, server, setUp } from './fixture';

setUp();

test('a participant sees no control for a forbidden device, and the device does not run', async () => {
  server.set('features.screen_share=false', 'locks.camera=true');
  const room = await server.createMeeting({});
  const host = await Person.arrive(browser);
  const guest = await Person.arrive(browser);
  await host.join(room.final_link);
  await guest.open(room.guest_link);
  await guest.page.getByText('Your camera stays off in this room.').waitFor();
  await guest.page.getByText('Your microphone works.').waitFor();
  expect(await guest.page.getByLabel(/camera/i).count()).toBe(0);
  await guest.seen('desktop-light-lobby-locked');
  await guest.page.getByLabel('Your name').fill('Ben');
  await guest.button('Join').click();
  await Promise.all([host.untilHeard(), guest.untilHeard()]);

  await host.button('Stop camera').waitFor();
  await guest.button('Mute').waitFor();
  expect(await guest.button(/camera/).count()).toBe(0);
  for (const person of [host, guest]) expect(await person.button('Share screen').count()).toBe(0);
  // Each page shows one video, which is that of the host.
  for (const person of [host, guest]) await expect.poll(() => person.page.locator('video').count()).toBe(1);
  await guest.seen('desktop-light-locked');
  await closeAll([host, guest]);
});

test('a visitor who may only listen is asked for no device', async () => {
  server.set('locks.camera=true', 'locks.microphone=true');
  const room = await server.createMeeting({});
  const guest = await Person.arrive(browser, { viewport: phone });
  await guest.page.addInitScript(() => {
    navigator.mediaDevices.getUserMedia = () => Promise.reject(new Error('asked'));
  });
  await guest.open(room.guest_link);
  await guest.page.getByText('You can watch and listen in this room').waitFor();
  expect(await guest.page.getByRole('switch').count()).toBe(0);
  await guest.page.getByLabel('Your name').fill('Ben');
  await guest.seen('phone-light-lobby-listener');
  await guest.button('Join').click();
  await guest.button('Leave').first().waitFor();
  await guest.seen('phone-light-listener');
  for (const name of ['Mute', 'Unmute', /camera/]) expect(await guest.button(name).count()).toBe(0);
  await closeAll([guest]);
});

test('a room for invited people explains to other visitors how to get in', async () => {
  server.set('invitations_required=true');
  const room = await server.createMeeting({});
  const stranger = await Person.arrive(browser, { viewport: phone });
  await stranger.open(room.guest_link);
  await stranger.page.getByRole('heading', { name: 'You need an invitation to join this room' }).waitFor();
  await stranger.seen('phone-light-invitation');

  const host = await Person.arrive(browser);
  await host.join(room.final_link);
  await closeAll([stranger], /403/);
  await host.close();
});

test('a co-host is shown as one and runs breakout rooms, but does not end the room for all', async () => {
  server.set('invitations_required=true');
  const room = await server.createMeeting({ breakouts: 2 });
  const { invitation_link } = server.request<{ invitation_link: string }>('create_invitation_link', {
    room_id: room.room_id,
    role: 'admin',
  });
  const host = await Person.arrive(browser);
  const cohost = await Person.arrive(browser, { viewport: phone });
  await host.join(room.final_link);
  await cohost.open(invitation_link);
  await cohost.page.getByText('You’re a co-host').waitFor();
  await cohost.page.getByLabel('Your name').fill('Ben');
  await cohost.button('Join').click();
  await host.button(/^People/).click();
  await host.page.getByRole('listitem').filter({ hasText: 'Ben' }).getByText('Co-host').waitFor();

  await cohost.openRoomTab();
  await cohost.button('Breakout rooms').waitFor();
  expect(await cohost.button('End for all…').count()).toBe(0);
  await cohost.button('Breakout rooms').click();
  await cohost.button('Open 2 rooms').click();
  await cohost.button('Close all breakout rooms').waitFor();
  await host.button(/you are in Main room/).waitFor();
  await cohost.seen('phone-light-cohost');

  // The link is for one person.
  const other = await Person.arrive(browser);
  await other.open(invitation_link);
  await other.page.getByRole('heading', { name: 'You need an invitation to join this room' }).waitFor();
  for (const person of [host, cohost, other]) await person.close();
});

test('a visitor who waits for a room sees when it is canceled', async () => {
  const room = await server.createMeeting({}, { start: new Date(Date.now() + 3 * 60_000) });
  const guest = await Person.arrive(browser, { viewport: phone });
  await guest.open(room.guest_link);
  await guest.page.getByLabel('Your name').fill('Ben');
  await guest.button('Join when it opens').click();
  server.request('end_room', { room_id: room.room_id });
  await guest.page.getByText('The room was cancelled before it started.').waitFor();
  await guest.seen('phone-light-cancelled');
  await closeAll([guest], /410/);
});
