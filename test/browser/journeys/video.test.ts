import { expect, test } from 'vitest';
import { Person, phone } from '../browser';
import { browser, closeAll, server, setUp } from '../fixture';

setUp();

test('two people see each other, one shares a screen, and the camera can be turned off', async () => {
  const room = await server.createMeeting({});
  const host = await Person.arrive(browser, { smallCamera: true });
  const guest = await Person.arrive(browser, { smallCamera: true, viewport: phone });
  await host.join(room.final_link);
  await guest.join(room.guest_link, 'Ben');
  await Promise.all([host.untilSeen(), guest.untilSeen()]);
  await Promise.all([host.untilHeard(), guest.untilHeard()]);

  await guest.button('Stop camera').first().click();
  await guest.button('Start camera').first().waitFor();
  const others = host.page.locator('.tile:not([data-own]) video:not([data-own])');
  await expect.poll(() => others.count()).toBe(0);

  await host.button('Share screen').click();
  const screen = guest.page.locator('.share video');
  await screen.waitFor();
  await guest.page.getByText('Amina’s screen').first().waitFor();
  await expect.poll(() => screen.evaluate((video: HTMLVideoElement) => video.videoWidth > 0 && video.currentTime > 0)).toBe(true);
  await host.button('Stop sharing').click();
  await screen.waitFor({ state: 'detached' });
  await closeAll([host, guest]);
});
