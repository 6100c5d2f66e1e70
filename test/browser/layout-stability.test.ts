import { describe, expect, test } from 'vitest';
import { desktop, fakeDevices, launch, Person, phone } from './browser';
import { browser, server, setUp } from './fixture';
import { speech } from './media';
import { Server } from './server';

setUp();

interface Shift {
  value: number;
  /** The elements that moved and are still on the page. */
  moved: { what: string; person: boolean }[];
}

/** Records all layout shifts of the page, also those after an input. */
async function watchShifts(person: Person): Promise<void> {
  await person.page.addInitScript(() => {
    const shifts: Shift[] = [];
    Object.assign(globalThis, { shifts });
    new PerformanceObserver((list) => {
      for (const entry of list.getEntries() as (PerformanceEntry & { value: number; sources: { node: Node | null }[] })[]) {
        const nodes = entry.sources.flatMap(({ node }) => (node instanceof Element ? node : (node?.parentElement ?? [])));
        const moved = nodes.map((node) => ({ what: node.outerHTML.slice(0, 200), person: node.closest('.tiles, .faces') !== null }));
        shifts.push({ value: entry.value, moved });
      }
    }).observe({ type: 'layout-shift', buffered: true });
  });
}

/** Returns the elements that moved since the previous call. */
const shifts = (person: Person): Promise<Shift[]> =>
  person.page.evaluate(async () => {
    // Waits for two frames, because a shift is reported after it was drawn.
    await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
    return (globalThis as unknown as { shifts: Shift[] }).shifts.splice(0);
  });

const sum = (all: Shift[]): number => all.reduce((total, { value }) => total + value, 0);

describe.each([
  { name: 'phone', type: 'video', viewport: phone },
  { name: 'phone across', type: 'audio', viewport: { width: 844, height: 390 } },
  { name: 'desktop', type: 'video', viewport: desktop },
  { name: 'desktop', type: 'audio', viewport: desktop },
])('$name, $type', ({ type, ...look }) => {
  test('joining moves no element, and a new participant moves no button', async () => {
    const room = await (type === 'video' ? server.createMeeting({}) : server.createRoom());
    await expect.poll(async () => (await server.ask(room.room_id, 'preview', {})).state).toBe('open'); // not a lobby that turns from early to open
    const host = await Person.arrive(browser, look);
    const guest = await Person.arrive(browser, look);
    const people = type === 'video' ? '.tiles .tile' : '.faces .face';
    for (const person of [host, guest]) await watchShifts(person);

    await host.open(room.final_link);
    await host.page.getByText('Your microphone works.').waitFor();
    if (type === 'video') await host.page.locator('.preview video').waitFor();
    const opening = await shifts(host);
    expect(sum(opening), JSON.stringify(opening)).toBeLessThan(0.01);
    await host.button('Join').click();
    await host.page.locator(people).first().waitFor();

    await guest.open(room.guest_link);
    await guest.page.getByLabel('Your name').fill('Benedikta von Hohenstein-Langenfeld');
    await guest.page.getByText('Your microphone works.').waitFor();
    await shifts(guest);
    await shifts(host);
    await guest.button('Join').click();
    await guest.page.locator(people).nth(1).waitFor();
    await host.page.locator(people).nth(1).waitFor();
    for (const person of [guest, host]) {
      await person.untilHeard();
      if (type === 'video') await person.untilSeen();
    }
    const joining = await shifts(guest);
    expect(sum(joining), JSON.stringify(joining)).toBeLessThan(0.01);
    // Only the tiles of the participants move.
    expect((await shifts(host)).flatMap(({ moved }) => moved.filter(({ person }) => !person))).toEqual([]);
    for (const person of [host, guest]) await person.close();
  });
});

test('with reduced motion nothing is animated', async () => {
  const room = await server.createMeeting({ breakouts: 2 });
  const host = await Person.arrive(browser, { reducedMotion: true });
  const { page } = host;
  await page.addInitScript(() => {
    const motions: string[] = [];
    Object.assign(globalThis, { motions });
    addEventListener('transitionrun', ({ propertyName, target }) => motions.push(`${propertyName} of ${(target as Element).className}`));
    addEventListener('animationstart', ({ animationName, target }) => {
      // Text that appears after a delay does not move.
      const { animationDuration } = getComputedStyle(target as Element);
      if (animationDuration !== '0s' && animationName !== 'appear') motions.push(`${animationName} of ${(target as Element).className}`);
    });
  });
  await host.join(room.final_link);
  // LiveKit usually does not detect a beep as speech.
  const speaking = await launch([...fakeDevices, `--use-file-for-fake-audio-capture=${speech(server.dataDir)}`]);
  const guest = await Person.arrive(speaking);
  await guest.join(room.guest_link, 'Ben');
  await page.locator('.tile[data-speaking]').first().waitFor();
  await host.button('Mute').click();
  await host.button('Unmute').hover();
  await host.button('Chat').click();
  await host.button('Close').click();
  await host.button('Reactions').click();
  await host.button('Clapping').click();
  await page.locator('[data-reaction]').first().waitFor();
  await host.button(/^People/).click();
  await host.button('Guest permissions').click();
  await page.getByRole('switch').first().click();
  await page.keyboard.press('Escape');
  await host.leave();
  expect(await page.evaluate(() => (globalThis as unknown as { motions: string[] }).motions)).toEqual([]);
  for (const person of [host, guest]) await person.close();
  await speaking.close();
});

describe('code that is loaded after the first view', () => {
  test('is available while the server is down', async () => {
    const own = await Server.start();
    const room = await own.createRoom();
    const person = await Person.arrive(browser);
    const fetched = person.page.waitForResponse(/\/assets\/lazyScreens-/).then((response) => response.finished());
    await person.join(room.guest_link, 'Ben');
    await fetched;
    await own.down('SIGKILL');
    await person.button('Leave').click();
    await person.page.getByRole('heading', { name: 'You left the room' }).waitFor();
    await person.close();
    await own.close();
  });

  test('is requested again after a failure, which the page explains', async () => {
    const person = await Person.arrive(browser);
    const { page } = person;
    await page.route(/\/assets\/lazyScreens-/, (route) => route.abort());
    await person.open(`${server.url}/r/0197c9b4-5a3e-7c11-b1a4-6c0b5d7f2e10`);
    await page.getByRole('heading', { name: 'The server isn’t responding' }).waitFor();
    await page.unroute(/\/assets\/lazyScreens-/);
    await page.getByRole('heading', { name: 'This room doesn’t exist' }).waitFor();
    await person.close();
  });
});
