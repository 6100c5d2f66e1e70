import { expect, test } from 'vitest';
import { audible, Person, phone } from '../browser';
import { browser, closeAll, server, setUp } from '../fixture';

setUp();

test('a host sends people into breakout rooms, writes to them and brings them back', async () => {
  const room = await server.createMeeting({ breakouts: 2 });
  const host = await Person.arrive(browser, { smallCamera: true });
  const ben = await Person.arrive(browser, { smallCamera: true, viewport: phone });
  await host.join(room.final_link);
  await ben.join(room.guest_link, 'Ben');
  await Promise.all([host.untilHeard(), ben.untilHeard()]);

  await host.openRoomTab();
  await host.button('Breakout rooms').click();
  await host.page.getByLabel('Name of room 1').fill('Red');
  await host.page.getByLabel('Room of Ben').selectOption('Red');
  await host.button('Open 2 rooms').click();
  await ben.button(/you are in Red/).waitFor();
  await expect.poll(() => host.page.locator('audio[data-identity]').count()).toBe(0);
  expect(await host.hears(audible)).toBeLessThan(audible);

  await host.page.getByLabel('Message to everyone in all rooms').fill('Five more minutes.');
  await host.button('Send').click();
  await ben.page.locator('.broadcast').getByText('Five more minutes.').waitFor();

  await host.button('Close all breakout rooms').click();
  await expect.poll(() => ben.button(/you are in/).count()).toBe(0);
  await host.page.keyboard.press('Escape');
  await Promise.all([host.untilHeard(), ben.untilHeard()]);
  await closeAll([host, ben]);
});
