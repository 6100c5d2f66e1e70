import { expect, test } from 'vitest';
import { audible, desktop, Person, phone } from './browser';
import { browser, closeAll, server, setUp } from './fixture';

setUp();

/** Opens a dialog from the tab of the room. */
async function fromRoomTab(person: Person, name: string): Promise<void> {
  await person.openRoomTab();
  await person.button(name).click();
}

/** Returns the room of a person as shown in the list of a host. */
function roomOf(host: Person, name: string): Promise<string> {
  return host.page.getByLabel(`Room of ${name}`).evaluate((list: HTMLSelectElement) => list.selectedOptions[0]?.text ?? '');
}

test('a participant is in the same breakout room again after the server was killed', async () => {
  const room = await server.createMeeting({ breakouts: 2 });
  const host = await Person.arrive(browser);
  const guest = await Person.arrive(browser);
  await host.join(room.final_link);
  await guest.join(room.guest_link, 'Ben');
  await host.page.getByText('Ben').first().waitFor();
  await fromRoomTab(host, 'Breakout rooms');
  await host.page.getByLabel('Room of Ben').selectOption('Room 2');
  await host.button('Open 2 rooms').click();
  await guest.button(/you are in Room 2/).waitFor();
  await host.button('Join (Room 2)').click();
  await Promise.all([host.untilHeard(), guest.untilHeard()]);

  await server.down('SIGKILL');
  await server.up();
  await Promise.all([host.untilHeard(), guest.untilHeard()]);
  for (const person of [host, guest]) await person.button(/you are in Room 2/).waitFor();

  await host.button(/you are in Room 2/).click();
  await host.button('Close all breakout rooms').click();
  for (const person of [host, guest]) await expect.poll(() => person.button(/you are in/).count()).toBe(0);
  await host.page.keyboard.press('Escape');
  await Promise.all([host.untilHeard(), guest.untilHeard()]);
  await host.close();
  await guest.close();
});

const looks = [
  { name: 'phone-dark', viewport: phone, dark: true },
  { name: 'desktop-light', viewport: desktop, dark: false },
];

test('the time of a room ends it, after a warning', async () => {
  const room = await server.createMeeting({ minutes: 1 });
  const host = await Person.arrive(browser);
  const guest = await Person.arrive(browser, { viewport: phone, dark: true });
  for (const person of [host, guest]) await person.recordReadOut();
  const toast = (person: Person) => person.page.locator('.toast').getByText('This room ends in 1 minute.');
  await host.join(room.final_link);
  await toast(host).waitFor();
  await guest.join(room.guest_link, 'Ben');
  await toast(guest).waitFor();
  await guest.button('Hide this message').click();
  await toast(guest).waitFor({ state: 'detached' });
  // The other one ends by itself.
  await toast(host).waitFor({ state: 'detached' });
  for (const person of [host, guest]) {
    // A screen reader announces it.
    await expect.poll(() => person.readOut()).toContain('This room ends in 1 minute.');
    await person.page
      .getByRole('timer')
      .getByText(/^0:\d\d left$/)
      .waitFor();
  }
  for (const person of [host, guest]) {
    await person.page.getByText('The room reached its time limit.').waitFor({ timeout: 75_000 });
  }
  await guest.seen('phone-dark-time-up');
  expect(await server.endReason(room.room_id)).toBe('duration');
  await host.close();
  await guest.close();
});

test('participants move into breakout rooms and back by themselves, and their microphones stay on', async () => {
  const room = await server.createMeeting({ breakouts: 4 });
  const host = await Person.arrive(browser);
  const ben = await Person.arrive(browser, { viewport: phone });
  const chen = await Person.arrive(browser);
  await host.join(room.final_link);
  await ben.join(room.guest_link, 'Ben');
  await chen.join(room.guest_link, 'Chen');
  await Promise.all([host, ben, chen].map((person) => person.untilHeard()));
  await chen.button('Mute').click();

  // The page does not ask for a device again.
  for (const guest of [ben, chen]) {
    await guest.page.evaluate(() => {
      navigator.mediaDevices.getUserMedia = () => Promise.reject(new Error('asked again'));
    });
  }

  await fromRoomTab(host, 'Breakout rooms');
  await host.page.getByLabel('Name of room 1').fill('Red');
  for (const name of ['Ben', 'Chen']) await host.page.getByLabel(`Room of ${name}`).selectOption('Red');
  await host.button('Open 2 rooms').click();

  // Both are in the room they were sent to, one muted as before.
  for (const guest of [ben, chen]) await guest.button(/you are in Red/).waitFor();
  await chen.untilHeard();
  await chen.button('Unmute').click();
  await ben.untilHeard();
  await expect.poll(() => host.page.locator('audio[data-identity]').count()).toBe(0);
  expect(await host.hears()).toBeLessThan(audible / 10);
  await ben.seen('phone-light-breakout');

  // A broadcast of the host reaches both of them.
  // The host writes the next one before the server has responded.
  const broadcast = host.page.getByLabel('Message to everyone in all rooms');
  let respond = (): void => undefined;
  const written = new Promise<void>((resolve) => {
    respond = resolve;
  });
  await host.page.route('**/broadcast', async (route) => {
    await written;
    await route.continue();
  });
  await broadcast.fill('Five more minutes.');
  const sending = host.page.waitForRequest(/\/broadcast$/);
  await host.button('Send').click();
  await sending;
  await broadcast.fill('Four more minutes.');
  respond();
  await host.page.getByText('Sent to everyone.').waitFor();
  expect(await broadcast.inputValue()).toBe('Four more minutes.');
  await broadcast.fill('');
  await host.page.unroute('**/broadcast');
  for (const guest of [ben, chen]) await guest.page.locator('.broadcast').getByText('Five more minutes.').waitFor();
  // It stays while somebody points at it.
  await ben.page.locator('.broadcast').hover();
  await ben.seen('phone-light-word');
  await ben.button('Hide this message').click();
  await ben.page.locator('.broadcast').waitFor({ state: 'detached' });

  // One guest joins another room and is moved back.
  await ben.button(/you are in Red/).click();
  await ben.seen('phone-light-places');
  await ben.button('Join (Room 2)').click();
  await ben.button(/you are in Room 2/).waitFor();
  // The remaining participant sees that he left, and not that his connection was lost.
  await expect.poll(() => chen.page.locator('audio[data-identity]').count()).toBe(0);
  expect(await chen.page.getByText('Reconnecting').count()).toBe(0);
  await expect.poll(() => ben.page.locator('audio[data-identity]').count()).toBe(0);
  // The host sees the change of room.
  await expect.poll(() => roomOf(host, 'Ben')).toBe('Room 2');
  expect(await roomOf(host, 'Chen')).toBe('Red');

  // The host can add rooms.
  await host.page.getByLabel('Add a room').fill('Blue');
  await host.button('Open').click();
  await host.page.getByLabel('Room of Ben').selectOption('Blue');
  await ben.button(/you are in Blue/).waitFor();
  await host.button('Open').click();
  await host.button('Join (Room 4)').waitFor();
  // The number of rooms is limited.
  await host.page.getByLabel('Add a room').waitFor({ state: 'detached' });
  await host.page.getByLabel('Room of Ben').selectOption('Main room');
  await ben.button(/you are in Main room/).waitFor();
  await Promise.all([ben.untilHeard(), host.untilHeard()]);

  // The breakout rooms are closed, and all guests return and hear each other.
  await host.button('Close all breakout rooms').click();
  await chen.page.getByText('Amina').first().waitFor();
  for (const guest of [ben, chen]) await expect.poll(() => guest.button(/you are in/).count()).toBe(0);
  await host.page.keyboard.press('Escape');
  await Promise.all([host, ben, chen].map((person) => person.untilHeard()));
  await expect.poll(() => chen.page.locator('audio[data-identity]').count()).toBe(2);

  await closeAll([host, ben, chen]);
});

test.each(looks)('the dialogs of hosts are accessible and fit the screen: $name', async (look) => {
  const room = await server.createMeeting({ breakouts: 4, minutes: 5 });
  const host = await Person.arrive(browser, look);
  const guest = await Person.arrive(browser);
  await host.join(room.final_link);
  await host.page.getByText('This room ends in 5 minutes.').first().hover();
  await host.seen(`${look.name}-ends`);
  await guest.join(room.guest_link, 'Benedikta von Hohenstein-Langenfeld');
  await host.page.getByText('Benedikta').first().waitFor();

  await host.button('More').click();
  await host.seen(`${look.name}-more-host`);
  await host.button('Room details').click();
  await host.seen(`${look.name}-room`);
  await host.button('Breakout rooms').click();
  await host.button('Assign evenly').click();
  await host.seen(`${look.name}-rooms-open`);
  await host.button('Open 2 rooms').click();
  await host.button('Close all breakout rooms').waitFor();
  await guest.button(/you are in Room 1/).waitFor();
  await host.seen(`${look.name}-rooms-run`);
  await host.page.keyboard.press('Escape');
  await host.page.getByText('Nobody else is in the main room').waitFor();
  await host.seen(`${look.name}-rooms-main`);
  // The name of the room is beside or below the title, and apart from the edges of the window.
  const isPlaced = async (): Promise<void> => {
    const [title, place] = await Promise.all(['h1', '.room-place'].map((what) => host.page.locator(what).boundingBox()));
    if (!title || !place) throw new Error('the head is incomplete');
    expect(place.y >= title.y + title.height - 1 || place.x >= title.x + title.width, JSON.stringify({ title, place })).toBe(true);
    expect(Math.min(place.y, look.viewport.height - place.y - place.height), JSON.stringify(place)).toBeGreaterThanOrEqual(6);
  };
  await isPlaced();
  if (look.viewport === desktop) {
    await host.button('Close').click();
    await host.page.locator('.panel').waitFor({ state: 'detached' });
    await host.seen(`${look.name}-rooms-main-wide`);
    await isPlaced();
  }

  await fromRoomTab(host, 'End for all…');
  await host.seen(`${look.name}-end`);
  await host.button('End for all').click();
  // Participants in a breakout room see the reason too.
  await guest.page.getByText('The host ended the room.').waitFor();
  await host.page.getByRole('heading', { name: 'You ended the room' }).waitFor();
  await host.seen(`${look.name}-ended`);
  // Each participant is asked once for feedback, also after the end.
  await host.button('Good').click();
  await host.page.getByText('Thank you for your feedback.').waitFor();
  await host.seen(`${look.name}-rated`);
  // Opened later, the page names the room and asks nothing.
  await host.page.reload();
  await host.page.getByRole('heading', { name: 'This room has ended' }).waitFor();
  await host.page.getByText('Workshop').waitFor();
  expect(await host.button('Good').count()).toBe(0);
  expect(await server.endReason(room.room_id)).toBe('host');
  await host.close();
  await guest.close();
});

test('a participant who leaves is redirected to the logout URL, unless they stay', async () => {
  const bye = `${server.url}/docs`;
  const room = await server.createMeeting({}, { logout_url: bye });
  const stays = await Person.arrive(browser, { viewport: phone });
  const goes = await Person.arrive(browser);
  for (const person of [stays, goes]) {
    await person.join(room.guest_link, 'Ben');
    await person.button('Leave').first().click();
    await person.page
      .getByText(/You’ll go to 127\.0\.0\.1:\d+ in/)
      .first()
      .waitFor();
  }
  await stays.picture('phone-light-onward');
  await stays.button('Stay here').click();
  await stays.seen('phone-light-stays');
  await goes.page.waitForURL(bye);
  await stays.button('Rejoin').click();
  await stays.button('Leave').first().waitFor();
  await stays.close();
  await goes.close();
});
