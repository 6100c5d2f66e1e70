import { test } from 'vitest';
import { Person, phone } from '../browser';
import { browser, closeAll, server, setUp } from '../fixture';

setUp();

test.each([
  { name: 'desktop-dark', dark: true },
  { name: 'phone-light', viewport: phone },
])('the main screens pass axe and fit the screen: $name', async ({ name, ...look }) => {
  const room = await server.createMeeting({ breakouts: 2 });
  const host = await Person.arrive(browser, { ...look, smallCamera: true });
  const { page } = host;
  const seen = (view: string): Promise<void> => host.seen(`journey-${name}-${view}`);
  await host.open(room.final_link);
  await page.locator('.preview video').waitFor();
  await seen('lobby');
  await host.button('Join').click();
  await page.getByText('You’re the first one here').waitFor();
  await seen('room');
  await page.keyboard.press('c');
  await page.getByRole('log').waitFor();
  await seen('chat');
  await page.keyboard.press('Escape');
  await page.getByRole('log').waitFor({ state: 'detached' });
  await page.keyboard.press('p');
  await page.getByRole('heading', { name: 'People', exact: true }).waitFor();
  await seen('people');
  await page.keyboard.press('Escape');
  await host.button('More').click();
  await seen('more');
  await page.keyboard.press('Escape');
  await host.button('Leave').first().click();
  await page.getByRole('heading', { name: 'You left the room' }).waitFor();
  await seen('left');
  await host.open(`${server.url}/r/0197c9b4-5a3e-7c11-b1a4-6c0b5d7f2e10`);
  await page.getByRole('heading', { name: 'This room doesn’t exist' }).waitFor();
  await seen('unknown-room');
  await closeAll([host], /status of 404/);
});

test('a meeting works with the keyboard alone', async () => {
  const room = await server.createRoom();
  const person = await Person.arrive(browser);
  const { page } = person;
  await person.open(room.guest_link);
  await page.getByLabel('Your name').waitFor();
  await person.tabTo('Your name');
  await page.keyboard.type('Ben');
  await page.keyboard.press('Enter');
  await person.button('Leave').first().waitFor();
  await person.tabTo('Mute');
  await page.keyboard.press('Space');
  await person.button('Unmute').waitFor();
  await person.tabTo('Leave');
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: 'You left the room' }).waitFor();
  await person.tabTo('Rejoin');
  await page.keyboard.press('Enter');
  await person.button('Leave').first().waitFor();
  await closeAll([person]);
});
