import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { desktop, Person, phone } from './browser';
import { browser, closeAll, server, setUp } from './fixture';
import { measured } from './measure';

setUp();

const looks = [
  { name: 'phone-light', viewport: phone, dark: false },
  { name: 'desktop-dark', viewport: desktop, dark: true },
];

test('an early visitor sees the countdown and joins automatically within two seconds of the opening', async () => {
  const guest = await Person.arrive(browser, { viewport: phone });
  const idle = await Person.arrive(browser, { viewport: phone });
  const start = new Date(Date.now() + 25_000);
  const room = await server.schedule(start);
  const place = () => idle.page.locator('.lobby-join button').boundingBox();
  for (const person of [guest, idle]) {
    await person.open(room.guest_link);
    await person.page.getByRole('timer').getByText('second').waitFor();
    await person.page.getByLabel('Your name').fill(person === guest ? 'Ben' : 'Chen');
  }
  const before = await place();
  await guest.button('Join when it opens').click();
  await guest.button('You’ll join automatically · Cancel').waitFor();
  // The devices are ready before.
  await guest.page.getByText('Your microphone works.').waitFor();

  await guest.button('Leave').first().waitFor();
  expect(Date.now()).toBeGreaterThanOrEqual(start.getTime());
  measured('joined after the room opened', Date.now() - start.getTime(), 2_500);

  // A visitor who did not ask to join automatically is not taken in, but can press Join now, where the button was.
  await idle.button('Join').waitFor();
  expect(await place()).toEqual(before);
  await idle.button('Join').click();
  await idle.button('Leave').first().waitFor();
  await Promise.all([guest.untilHeard(), idle.untilHeard()]);
  await closeAll([guest, idle]);
});

describe.each(looks)('$name', (look) => {
  test('the countdown is accessible and fits the screen', async () => {
    const room = await server.createMeeting({}, { start: new Date(Date.now() + 2 * 86_400_000 + 3 * 3_600_000) });
    const guest = await Person.arrive(browser, { ...look, timeZone: 'Asia/Kolkata' });
    await guest.open(room.guest_link);
    await guest.page.getByText('(GMT+5:30)').waitFor();
    await guest.page.getByRole('timer').getByText('2 days').waitFor();
    await guest.page.getByLabel('Your name').fill('Ben');
    await guest.seen(`${look.name}-early`);
    await guest.button('Join when it opens').click();
    await guest.button('You’ll join automatically · Cancel').waitFor();
    await guest.seen(`${look.name}-waiting`);
    await closeAll([guest]);
  });
});

test('the calendar file has the start and this very link', async () => {
  const start = new Date(Math.ceil(Date.now() / 60_000 + 90) * 60_000);
  const room = await server.createMeeting({}, { start });
  const host = await Person.arrive(browser);
  await host.open(room.final_link);
  const [download] = await Promise.all([host.page.waitForEvent('download'), host.button('Add to calendar').click()]);
  expect(download.suggestedFilename()).toBe('Workshop.ics');
  const file = readFileSync(await download.path(), 'utf8').replaceAll('\r\n ', '');
  expect(file).toContain(`DTSTART:${start.toISOString().replace(/[-:]|\.\d+/g, '')}\r\n`);
  expect(file).toContain(`UID:${room.room_id}@127.0.0.1\r\n`);
  expect(file).toContain(`URL:${room.final_link}\r\n`);
  // The page asks a visitor with a personal link not to forward it.
  const personal = 'The entry contains your personal link. Don’t forward it.';
  await host.page.getByText(personal).waitFor();
  const guest = await Person.arrive(browser);
  await guest.open(room.guest_link);
  await guest.button('Add to calendar').waitFor();
  expect(await guest.page.getByText(personal).count()).toBe(0);
  await closeAll([host, guest]);
});

test('a host opens the room ten minutes early, and a waiting visitor joins, also with a wrong clock', async () => {
  const room = await server.createMeeting({}, { start: new Date(Date.now() + 9 * 60_000) });
  const guest = await Person.arrive(browser);
  // An hour fast: the room would be open by this clock.
  await guest.page.clock.install({ time: new Date(Date.now() + 3_600_000) });
  await guest.recordReadOut();
  await guest.open(room.guest_link);
  await guest.page.getByLabel('Your name').fill('Ben');
  // A screen reader says the time that is left. The room starts on a full minute.
  await expect.poll(() => guest.readOut()).toMatch(/The room opens in [789] minutes/);
  await guest.button('Join when it opens').click();

  const host = await Person.arrive(browser, { viewport: phone });
  await host.open(room.final_link);
  await host.button('Open the room now').waitFor();
  await host.seen('phone-light-open-now');
  await host.button('Open the room now').click();
  await host.button('Leave').first().waitFor();
  await guest.button('Leave').first().waitFor();
  const later = await Person.arrive(browser);
  await later.open(room.guest_link);
  await later.page.getByText(/^To(day|morrow), .* · .*Amina.* and .*Ben.* are here$/).waitFor();
  await closeAll([later]);
  await guest.close();
  await host.close();
});
