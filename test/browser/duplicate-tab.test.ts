import { expect, test } from 'vitest';
import { launch, networkProcess, Person, phone } from './browser';
import { browser, server, setUp } from './fixture';

setUp();

const title = 'You’re already in this room';

/** Opens a link in another tab of the same browser that has shown another page before. */
async function openAgain(person: Person, link: string): Promise<Person> {
  const tab = await person.tab();
  // A tab without a history closes on "Stay there".
  await tab.open(`${server.url}/docs`);
  await tab.open(link);
  return tab;
}

test('a second tab of a participant asks in which tab to continue', async () => {
  const room = await server.createRoom();
  const host = await Person.arrive(browser);
  const ben = await Person.arrive(browser, { viewport: phone });
  await host.join(room.final_link);
  await ben.join(room.guest_link, 'Ben');
  await ben.untilHeard();

  const second = await openAgain(ben, room.guest_link);
  await second.page.getByRole('heading', { name: title }).waitFor();
  await second.seen('phone-light-twice');
  await second.button('Stay there').click();
  await second.page.getByRole('heading', { name: 'You’re still in the room there' }).waitFor();
  await second.seen('phone-light-twice-stays');
  await ben.untilHeard();

  // After "Join here instead" the other tab is disconnected and shows why.
  await second.button('Join here instead').click();
  await second.button('Leave').first().waitFor();
  await ben.page.getByRole('heading', { name: 'You’re in the room on another tab or device' }).waitFor();
  await ben.seen('phone-light-elsewhere');
  await Promise.all([second.untilHeard(), host.untilHeard()]);
  await expect.poll(() => host.page.locator('audio[data-identity]').count()).toBe(1);

  // A reloaded tab is not a duplicate.
  await second.page.reload();
  await second.button('Rejoin').click();
  await second.button('Leave').first().waitFor();
  await second.untilHeard();

  // The first tab continues.
  await ben.button('Continue here').click();
  await ben.button('Leave').first().waitFor();
  await second.page.getByRole('heading', { name: 'You’re in the room on another tab or device' }).waitFor();
  await ben.untilHeard();
  await expect.poll(() => host.page.locator('audio[data-identity]').count()).toBe(1);

  for (const person of [ben, second]) person.assertNoComplaints(server.url);
  await host.close();
  await ben.close();
});

test('two people may share a browser', async () => {
  const room = await server.createRoom();
  const host = await Person.arrive(browser);
  const ben = await Person.arrive(browser);
  await host.join(room.final_link);
  await ben.join(room.guest_link, 'Ben');
  const chen = await openAgain(ben, room.guest_link);
  await chen.button('Join as someone else').click();
  await chen.page.getByLabel('Your name').fill('Chen');
  await chen.button('Join').click();
  await chen.button('Leave').first().waitFor();
  await Promise.all([ben.untilHeard(), chen.untilHeard()]);
  for (const name of ['Ben', 'Chen']) await host.page.getByText(name).first().waitFor();
  await host.close();
  await ben.close();
});

test('a visitor who left or only saw the lobby is not asked', async () => {
  const room = await server.createRoom();
  const ben = await Person.arrive(browser);
  await ben.open(room.guest_link);
  await ben.page.getByLabel('Your name').waitFor();
  const looksIn = await openAgain(ben, room.guest_link);
  await looksIn.page.getByLabel('Your name').waitFor();
  await looksIn.page.close();
  await ben.page.getByLabel('Your name').fill('Ben');
  await ben.button('Join').click();
  await ben.button('Leave').first().click();
  await ben.page.getByRole('heading', { name: 'You left the room' }).waitFor();
  const again = await openAgain(ben, room.guest_link);
  await again.page.getByLabel('Your name').waitFor();
  await ben.close();
});

test('a person with a personal link is asked on a second device, and moves there', async () => {
  const room = await server.createRoom();
  const link = (): string =>
    server.request<{ final_link: string }>('join_room', {
      room_id: room.room_id,
      user_info: { name: 'Ada', client_user_id: 'ada', is_admin: true },
    }).final_link;
  const host = await Person.arrive(browser);
  await host.join(room.final_link);
  const laptop = await Person.arrive(browser);
  await laptop.join(link());
  const mobile = await Person.arrive(browser, { viewport: phone, dark: true });
  await mobile.open(link());
  await mobile.page.getByRole('heading', { name: title }).waitFor();
  await mobile.page.getByText('on another device').waitFor();
  await mobile.seen('phone-dark-twice-device');
  await mobile.button('Join here instead').click();
  await mobile.button('Leave').first().waitFor();
  await laptop.page.getByRole('heading', { name: 'You’re in the room on another tab or device' }).waitFor();
  await Promise.all([mobile.untilHeard(), host.untilHeard()]);
  // A second tab with the same link belongs to the same person too.
  const tab = await openAgain(mobile, mobile.page.url());
  await tab.page.getByRole('heading', { name: title }).waitFor();
  expect(await tab.button('Join as someone else').count()).toBe(0);
  for (const person of [host, laptop, mobile]) await person.close();
});

test('a device that comes back does not displace the one that the person uses meanwhile', async () => {
  const room = await server.createRoom();
  const link = (): string =>
    server.request<{ final_link: string }>('join_room', {
      room_id: room.room_id,
      user_info: { name: 'Ada', client_user_id: 'ada' },
    }).final_link;
  const own = await launch();
  const host = await Person.arrive(browser);
  const laptop = await Person.arrive(own);
  const mobile = await Person.arrive(browser, { viewport: phone });
  await laptop.page.addInitScript(() => {
    const open = navigator.mediaDevices.getUserMedia.bind(navigator.mediaDevices);
    const tracks: MediaStreamTrack[] = [];
    Object.assign(window, { openTracks: () => tracks.filter(({ readyState }) => readyState === 'live').length });
    navigator.mediaDevices.getUserMedia = async (wanted) => {
      const stream = await open(wanted);
      tracks.push(...stream.getTracks());
      return stream;
    };
  });
  const openTracks = (): Promise<number> => laptop.page.evaluate(() => (window as unknown as { openTracks(): number }).openTracks());
  await host.join(room.final_link);
  await laptop.join(link());
  await laptop.untilHeard();
  expect(await openTracks()).toBeGreaterThan(0);

  // No packet passes until the laptop has given up its connection and asks to come back.
  const network = await networkProcess(own);
  const before = laptop.requests.length;
  process.kill(network, 'SIGSTOP');
  try {
    await expect.poll(() => laptop.requests.slice(before).some((url) => /\/(preview|seats)$/.test(url))).toBe(true);
    await mobile.open(link());
    // The server may still hold the seat for the laptop.
    await mobile.button('Join').or(mobile.button('Join here instead')).click();
    await mobile.untilHeard();
  } finally {
    process.kill(network, 'SIGCONT');
  }
  await laptop.page.getByRole('heading', { name: 'You’re in the room on another tab or device' }).waitFor();
  await Promise.all([mobile.untilHeard(), host.untilHeard()]);
  expect(await laptop.page.locator('audio').count()).toBe(0);

  // The person decides, also after they have left.
  await laptop.button('Continue here').click();
  await laptop.button('Leave').first().waitFor();
  await mobile.page.getByRole('heading', { name: 'You’re in the room on another tab or device' }).waitFor();
  await laptop.leave();
  await mobile.button('Continue here').click();
  await mobile.untilHeard();
  await laptop.button('Rejoin').click();
  await laptop.page.getByRole('heading', { name: title }).waitFor();
  await expect.poll(() => openTracks()).toBe(0);
  await Promise.all([mobile.untilHeard(), host.untilHeard()]);
  for (const person of [host, laptop, mobile]) await person.close();
  await own.close();
});

test('the question reads well from right to left, too', async () => {
  const room = await server.createRoom();
  const ben = await Person.arrive(browser);
  await ben.join(room.guest_link, 'Ben');
  const second = await openAgain(ben, `${room.guest_link}?lang=ar`);
  await second.page.getByRole('heading', { level: 1 }).waitFor();
  expect(await second.page.locator('html').getAttribute('dir')).toBe('rtl');
  await second.seen('desktop-light-twice-ar');
  await ben.close();
});
