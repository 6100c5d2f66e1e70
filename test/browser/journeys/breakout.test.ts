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

  // Ben asks for help. The host sees it, with the room, and can go there.
  await ben.button('Raise hand').click();
  await ben.button('Lower hand').waitFor();
  await host.page.keyboard.press('Escape');
  await host.page.getByText('Ben raised a hand in Red').first().waitFor();
  await host.button(/^People/).click();
  const hand = host.page.getByRole('listitem').filter({ hasText: 'Red' });
  await hand.getByRole('button', { name: 'Join (Red)' }).click();
  await host.button(/you are in Red/).waitFor();
  await Promise.all([host.untilHeard(), ben.untilHeard()]);
  await host.button(/you are in Red/).click();
  await host.button('Go back (Main room)').click();
  await host.button(/you are in Main room/).click();

  // Visible without scrolling on a usual laptop.
  await host.page.setViewportSize({ width: 1366, height: 768 });
  const close = await host.button('Close all breakout rooms').boundingBox();
  expect(close && close.y + close.height).toBeLessThan(768);
  await host.button('Close all breakout rooms').click();
  await expect.poll(() => ben.button(/you are in/).count()).toBe(0);
  await host.page.keyboard.press('Escape');
  await Promise.all([host.untilHeard(), ben.untilHeard()]);
  await closeAll([host, ben]);
});
