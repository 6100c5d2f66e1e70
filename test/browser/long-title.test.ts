import { expect, test } from 'vitest';
import { desktop, launch, networkProcess, Person } from './browser';
import { browser, closeAll, server, setUp } from './fixture';

setUp();

const title = 'Algebra II, group B: quadratic equations, completing the square and graphs, lesson 14, part 2';

/** The widths of phones, of a narrow window, and of a small window at 400 % zoom. */
const sizes = [
  { width: 320, height: 640 },
  { width: 360, height: 640 },
  { width: 390, height: 664 },
  { width: 600, height: 800 },
  { width: 320, height: 256 },
];

/** Fails if the page is wider than the window in any size, or has something to press or to read beyond its edges. */
async function fits({ page }: Person, state: string): Promise<void> {
  for (const size of sizes) {
    await page.setViewportSize(size);
    const beyond = (): Promise<string[]> =>
      page.evaluate(() => {
        const { scrollWidth, clientWidth } = document.documentElement;
        const found = scrollWidth > clientWidth ? [`the page is ${scrollWidth - clientWidth} px too wide`] : [];
        for (const element of document.querySelectorAll('h1, h2, button, a, input, select, textarea')) {
          const { left, right, top, bottom, width } = element.getBoundingClientRect();
          const inRow = left >= -1 && right <= innerWidth + 1;
          // All others can be scrolled to.
          const inColumn = !element.closest('.controls') || (top >= -1 && bottom <= innerHeight + 1);
          if (width > 0 && !(inRow && inColumn))
            found.push(`${element.getAttribute('aria-label') ?? element.textContent}: ${left} to ${right}`);
        }
        return found;
      });
    await expect.poll(beyond, { message: `${state}, ${size.width} by ${size.height}` }).toEqual([]);
  }
}

const inMinutes = (minutes: number): Date => new Date(Date.now() + minutes * 60_000);

test('before a room, a title of 90 letters pushes nothing off the screen', async () => {
  const person = await Person.arrive(browser);
  const { page } = person;
  for (const [state, start, join] of [
    ['scheduled', 26 * 60, 'Join when it opens'],
    ['early', 9, 'Join when it opens'],
    ['open', 0, 'Join'],
  ] as const) {
    const { guest_link } = await server.createMeeting({}, { title, ...(start && { start: inMinutes(start) }) });
    await person.open(guest_link);
    await person.button(join).waitFor();
    await page.getByLabel('Your name').fill('Ben');
    await fits(person, state);
  }

  await page.route('**/seats', (route) => route.fulfill({ status: 202, json: { ask_again_in: 60 } }));
  await person.button('Join').click();
  await person.button('Stop waiting').waitFor();
  await fits(person, 'waiting');
  await person.button('Stop waiting').click();
  await page.unroute('**/seats');

  const error = { code: 'room_full', message: 'x', max_participants: 4 };
  await page.route('**/seats', (route) => route.fulfill({ status: 409, json: { error } }));
  await page.route('**/preview', async (route) => {
    const answer = await route.fetch();
    const preview = (await answer.json()) as { you: object };
    await route.fulfill({ response: answer, json: { ...preview, you: { ...preview.you, full: true } } });
  });
  await person.button('Join').click();
  await page.getByText('All seats are taken (4 of 4).').waitFor();
  expect(await page.getByText(title).count()).toBe(1);
  await fits(person, 'full');
  await page.unroute('**/preview');

  for (const [code, status, heading] of [
    ['turned_away', 403, 'The host didn’t admit you'],
    ['removed', 403, 'You were removed from this room'],
    ['room_ended', 410, 'This room has ended'],
  ] as const) {
    await page.unroute('**/seats');
    await page.route('**/seats', (route) => route.fulfill({ status, json: { error: { code, message: 'x' } } }));
    await page.reload();
    await page.getByLabel('Your name').fill('Ben');
    await person.button('Join').click();
    await page.getByRole('heading', { name: heading }).waitFor();
    await fits(person, code);
  }
  await closeAll([person], /status of 4/);
});

test('in a room and after it, a title of 90 letters pushes nothing off the screen', async () => {
  const room = await server.createMeeting({ minutes: 30, breakouts: 2 }, { title });
  const host = await Person.arrive(browser);
  const guest = await Person.arrive(browser);
  await host.join(room.final_link);
  await host.page.getByText('You’re the first one here').waitFor();
  await fits(host, 'alone');
  await guest.join(room.guest_link, 'Ben');
  await host.page.locator('.tile').nth(1).waitFor();
  await fits(host, 'together');
  await host.page.setViewportSize(desktop);
  await host.button('Share screen').click();
  await guest.page.locator('.tile.share[data-large] video').waitFor();
  await fits(guest, 'a shared screen');
  await fits(host, 'sharing the screen');
  await host.page.setViewportSize(desktop);
  await host.button('Stop sharing').first().click();

  await host.page.setViewportSize({ width: 390, height: 664 });
  await host.button('Chat').click();
  for (const name of ['Chat', 'People', 'Room']) {
    await host.page.getByRole('tab', { name }).click();
    await host.page.getByRole('tabpanel', { name }).waitFor();
    await fits(host, name);
  }
  await host.page.keyboard.press('Escape');
  await host.button('More').click();
  await host.page.getByRole('dialog').waitFor();
  await fits(host, 'more');
  for (const name of ['Check connection and devices', 'Keyboard shortcuts']) {
    await host.button(name).click();
    await host.page.getByRole('heading', { name: /^(Connection|Keyboard shortcuts)$/ }).waitFor();
    await fits(host, name);
    await host.page.keyboard.press('Escape');
    await host.button('More').click();
  }
  await host.page.keyboard.press('Escape');
  await host.page.setViewportSize(desktop);
  for (const name of ['Audio settings', 'Video settings', 'Reactions']) {
    await host.button(name).click();
    await host.page.getByRole('dialog', { name }).waitFor();
    await fits(host, name);
    await host.page.setViewportSize(desktop);
    await host.page.keyboard.press('Escape');
  }
  await host.page.setViewportSize({ width: 390, height: 664 });
  await host.openRoomTab();
  await host.button('Breakout rooms').click();
  await host.button('Open 2 rooms').waitFor();
  await fits(host, 'the dialog of breakout rooms');
  await host.page.keyboard.press('Escape');
  await host.openRoomTab();
  await host.button('End for all…').click();
  await host.button('End for all').waitFor();
  await fits(host, 'the dialog that ends the room');
  await host.page.keyboard.press('Escape');

  const second = await guest.tab();
  await second.open(room.guest_link);
  await second.page.getByRole('heading', { name: 'You’re already in this room' }).waitFor();
  await fits(second, 'in the room in another tab');
  await second.button('Join here instead').click();
  await guest.page.getByRole('heading', { name: 'You’re in the room on another tab or device' }).waitFor();
  await fits(guest, 'joined elsewhere');
  await second.page.close();
  await guest.button('Continue here').click();

  await guest.button('Leave').first().click();
  await guest.page.getByRole('heading', { name: 'You left the room' }).waitFor();
  await fits(guest, 'left');
  await guest.button('Rejoin').click();
  await guest.button('Leave').first().waitFor();
  await guest.page.reload();
  await guest.button('Rejoin').waitFor();
  await fits(guest, 'reloaded');

  server.request('end_room', { room_id: room.room_id });
  await host.page.getByRole('heading', { name: 'The room has ended' }).waitFor();
  await fits(host, 'ended');
  await guest.page.reload();
  await guest.page.getByRole('heading', { name: 'This room has ended' }).waitFor();
  await fits(guest, 'opened later');
  await closeAll([host, guest], /status of 410/);
});

test('in an audio room, and while the connection is lost, a title of 90 letters pushes nothing off the screen', async () => {
  const room = await server.createRoom({ metadata: { room_title: title, welcome_message: '' } });
  const own = await launch();
  const host = await Person.arrive(own);
  const guest = await Person.arrive(browser);
  await host.join(room.final_link);
  await guest.join(room.guest_link, 'Ben');
  await Promise.all([host.untilHeard(), guest.untilHeard()]);
  await fits(guest, 'an audio room');

  const network = await networkProcess(own);
  process.kill(network, 'SIGSTOP');
  try {
    await host.page.locator('.connection-lost').getByText('Connection lost').waitFor();
    await fits(host, 'the connection is lost');
  } finally {
    process.kill(network, 'SIGCONT');
  }
  await guest.close();
  await own.close();
});

test.each([
  { name: 'many words', title },
  { name: 'one long word', title: 'Donaudampfschifffahrtselektrizitätenhauptbetriebswerkbauunterbeamtengesellschaft' },
])('with text of twice the size, a title of $name can be read whole in the lobby and under Room details', async ({ title }) => {
  const room = await server.createMeeting({}, { title });
  const host = await Person.arrive(browser);
  const { page } = host;
  const enlarge = (): Promise<unknown> =>
    page.evaluate(() => {
      document.documentElement.style.fontSize = '200%';
    });
  await host.open(room.final_link);
  await host.button('Join').waitFor();
  await enlarge();
  const readable = sizes.filter(({ height }) => height >= 600);
  for (const size of readable) {
    await page.setViewportSize(size);
    await expect.poll(() => page.getByRole('heading', { name: title }).evaluate(showsEnd), { message: `lobby, ${size.width}` }).toBe(true);
  }
  await host.button('Join').click();
  await host.button('Leave').first().waitFor();
  for (const size of [...readable, desktop]) {
    await page.setViewportSize(size);
    await host.openRoomTab();
    const shown = page.getByRole('tabpanel').getByRole('heading', { name: title });
    await expect.poll(() => shown.evaluate(showsEnd), { message: `Room details, ${size.width}` }).toBe(true);
    await host.button('Close').first().click();
  }
  await closeAll([host]);
});

/** Returns whether the last letter of an element is on the screen after scrolling to it, neither cut off nor covered. */
function showsEnd(element: Element): boolean {
  element.scrollIntoView({ block: 'end' });
  let last: Node = element;
  while (last.lastChild) last = last.lastChild;
  const letter = document.createRange();
  letter.setStart(last, (last.textContent?.length ?? 0) - 1);
  letter.setEnd(last, last.textContent?.length ?? 0);
  const { left, top, width, height } = letter.getBoundingClientRect();
  return element.contains(document.elementFromPoint(left + width / 2, top + height / 2));
}
