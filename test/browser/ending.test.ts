import { expect, test } from 'vitest';
import { Person, phone } from './browser';
import { browser, closeAll, server, setUp } from './fixture';

setUp();

test('a participant who leaves sees the duration, can rate the meeting once, and can rejoin', async () => {
  const room = await server.createRoom();
  const ben = await Person.arrive(browser, { viewport: phone, dark: true });
  const { page } = ben;
  await ben.join(room.guest_link, 'Ben');
  const answers: number[] = [];
  page.on('response', (response) => response.url().endsWith('/feedback') && answers.push(response.status()));
  await ben.button('Leave').first().click();
  await page.getByText('You were here for less than a minute.').waitFor();
  await page.getByText('You can rejoin while the room is open').waitFor();
  await ben.seen('phone-dark-left-rate');
  await ben.button('Bad').click();
  await page.getByText('Thank you for your feedback.').waitFor();
  expect(await ben.button(/^(Good|Bad)$/).count()).toBe(0);
  expect(await page.evaluate(() => document.activeElement?.textContent)).toBe('How was the meeting?');
  expect(answers).toEqual([204]);

  await ben.button('Rejoin').click();
  await ben.button('Leave').first().click();
  await page.getByRole('heading', { name: 'You left the room' }).waitFor();
  expect(await page.getByText('How was the meeting?').count()).toBe(0);
  await closeAll([ben]);
});

test.each([
  {
    focus: 'is gone, as after a press in Safari',
    move: ({ page }: Person) => page.evaluate(() => (document.activeElement as HTMLElement).blur()),
    target: 'How was the meeting?',
  },
  { focus: 'is on another button', move: (person: Person) => person.button('Rejoin').focus(), target: 'Rejoin' },
])('the focus that $focus during the rating ends at “$target”', async ({ move, target }) => {
  const room = await server.createRoom();
  const ben = await Person.arrive(browser);
  const { page } = ben;
  let answer = (): void => {};
  const moved = new Promise<void>((resolve) => {
    answer = resolve;
  });
  await page.route('**/feedback', async (route) => {
    await moved;
    await route.continue();
  });
  await ben.join(room.guest_link, 'Ben');
  await ben.button('Leave').first().click();
  await ben.button('Good').click();
  await page.getByRole('button', { name: 'Good', disabled: true }).waitFor();
  await move(ben);
  answer();
  await page.getByText('Thank you for your feedback.').waitFor();
  expect(await page.evaluate(() => document.activeElement?.textContent)).toBe(target);
  await closeAll([ben]);
});

test('a reloaded page offers to rejoin at once, and counts from the first entry', async () => {
  const room = await server.createRoom();
  const host = await Person.arrive(browser);
  await host.join(room.final_link);
  const ben = await Person.arrive(browser);
  const { page } = ben;
  await page.clock.install();
  await ben.join(room.guest_link, 'Ben');
  await page.clock.fastForward('05:00');
  await page.reload();
  await ben.button('Rejoin').waitFor();
  expect(await page.getByLabel('Your name').inputValue()).toBe('Ben');
  // The visitor's own seat does not count.
  await page.getByText(/^\W*Amina\W* is here$/).waitFor();
  await ben.seen('desktop-light-rejoin');
  await ben.button('Rejoin').click();
  await ben.untilHeard();
  await ben.button('Leave').first().click();
  await page.getByText('You were here for 5 minutes.').waitFor();
  await page.reload();
  await ben.button('Join').waitFor();
  await host.close();
  await ben.close();
});

test('the link of a room previews with its title, and a wrong link does not', async () => {
  const room = await server.createMeeting({});
  const tags = async (link: string): Promise<Record<string, string>> => {
    const html = await (await fetch(link)).text();
    return Object.fromEntries([...html.matchAll(/<meta property="og:(\w+)" content="([^"]*)">/g)].map(([, name, value]) => [name, value]));
  };
  expect(await tags(room.guest_link)).toEqual({
    site_name: 'Parley',
    title: 'Workshop',
    description: 'Open this link to join in your browser, without an account or an app.',
  });
  server.set('brand_name=Acme');
  expect(await tags(room.guest_link)).toMatchObject({ site_name: 'Acme', title: 'Workshop' });
  expect(await tags(`${server.url}/r/0197c9b4-5a3e-7c11-b1a4-6c0b5d7f2e10`)).toEqual({});
});
