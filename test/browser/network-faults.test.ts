import { setTimeout as pause } from 'node:timers/promises';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { fakeDevices, launch, Person, phone } from './browser';
import { measured } from './measure';
import { faults, Namespace, trust } from './namespace';
import { Server } from './server';

/** The seconds that a fault lasts. FAULT_SECONDS=5,20,60 adds the long ones. */
const durations = (process.env.FAULT_SECONDS ?? '5,20').split(',').map(Number);

/** The state of the other person's tile and of the own connection, as a page shows it. */
interface Shown {
  at: number;
  /** The text over the stage of the person who lost the connection. */
  lost: string;
  /** The text on the other person's tile, or nothing without a tile. */
  tile: string | null;
  dimmed: boolean;
  /** The other person's picture moves. */
  moving: boolean;
  alone: boolean;
}

/** Records from now on what a page shows about the other person, whenever it changes. */
async function record(person: Person, other: string): Promise<void> {
  await person.page.evaluate((other) => {
    const changes: Shown[] = [];
    Object.assign(globalThis, { changes });
    let before = '';
    let frames = 0;
    let movedAt = 0;
    setInterval(() => {
      const tile = [...document.querySelectorAll<HTMLElement>('.tile')].find((tile) => tile.textContent.includes(other));
      const video = tile?.querySelector('video');
      const drawn = video?.getVideoPlaybackQuality().totalVideoFrames ?? 0;
      if (drawn > frames) movedAt = Date.now();
      frames = drawn;
      const shown = {
        lost: document.querySelector('.connection-lost')?.textContent ?? '',
        tile: tile?.innerText.replaceAll(/\s+/g, ' ').trim() ?? null,
        dimmed: tile?.hasAttribute('data-away') ?? false,
        moving: Date.now() - movedAt < 1_000,
        alone: document.body.innerText.includes('Nobody else is here now'),
      };
      const now = JSON.stringify(shown);
      if (now !== before) changes.push({ at: Date.now(), ...shown });
      before = now;
    }, 50);
  }, other);
}

/** How long a page must show the other person without a change after a fault: LiveKit may replace connections meanwhile. */
const unchangedMs = 4_000;

/** Waits until the effects of an earlier fault are over. */
async function untilRecovered(people: Person[]): Promise<void> {
  const isRecovered = async (person: Person): Promise<boolean> => {
    const last = (await shownSince(person, 0)).at(-1);
    return last !== undefined && last.lost === '' && !last.dimmed && last.moving && Date.now() - last.at >= unchangedMs;
  };
  await expect.poll(() => Promise.all(people.map(isRecovered))).toEqual(people.map(() => true));
}

/** Returns what a page has shown since a time, with that time as 0. */
async function shownSince(person: Person, start: number): Promise<Shown[]> {
  const changes = await person.page.evaluate(() => (globalThis as unknown as { changes: Shown[] }).changes);
  return changes.map((shown) => ({ ...shown, at: shown.at - start })).filter(({ at }) => at > 0);
}

/** Returns the first time from `from` on at which a page showed something, in milliseconds. */
function first(all: Shown[], matches: (shown: Shown) => boolean, from = 0): number {
  const then = all.findLast(({ at }) => at <= from);
  return then && matches(then) ? from : (all.find((shown) => shown.at > from && matches(shown))?.at ?? Infinity);
}

describe.skipIf(!Namespace.available)('a network', () => {
  let namespace: Namespace;
  let server: Server;
  let near: Browser;
  let far: Browser;
  let host: Person;
  let guest: Person;

  beforeAll(async () => {
    namespace = new Namespace();
    server = await Server.startOn(namespace.machine, '--rtc-node-ip', namespace.machine);
    near = await launch([...fakeDevices, trust(server.url)]);
    far = await namespace.launch(server.url);
    const room = await server.createMeeting({});
    host = await Person.arrive(near);
    guest = await Person.arrive(far, { viewport: phone });
    await host.join(room.final_link);
    await guest.join(room.guest_link, 'Ben');
    await Promise.all([host.untilSeen(), guest.untilSeen()]);
    await record(host, 'Ben');
    await record(guest, 'Amina');
  });

  afterAll(async () => {
    await near?.close();
    await far?.close();
    await server?.close();
    namespace?.close();
  });

  describe.each([...faults])('%s', (fault) => {
    test.each(durations)('for %d s is shown on both sides, and no longer soon after its end', async (duration) => {
      await untilRecovered([host, guest]);
      const start = Date.now();
      namespace.begin(fault);
      await pause(duration * 1_000);
      namespace.end(fault);
      const ended = Date.now() - start;
      await Promise.all([host.untilSeen(), guest.untilSeen()]);
      await guest.page.locator('.connection-lost p').waitFor({ state: 'detached' });
      await host.page.locator('.tile[data-away]').waitFor({ state: 'detached' });
      await expect.poll(async () => (await shownSince(host, start)).at(-1)).toMatchObject({ dimmed: false, moving: true });
      const [own, others] = [await shownSince(guest, start), await shownSince(host, start)];
      const said = first(own, ({ lost }) => lost !== '');
      const seen = first(others, ({ dimmed }) => dimmed);
      const back = first(own, ({ lost, moving }) => lost === '' && moving, ended);
      const returned = first(others, ({ dimmed, moving }) => !dimmed && moving, ended);
      const title = `${fault} for ${duration} s`;
      measured(`${title}, shown on the own page`, said, 2_500);
      measured(`${title}, shown on the other page`, seen, 4_500);
      measured(`${title}, over on the own page`, back - ended, 10_000);
      measured(`${title}, over on the other page`, returned - ended, 10_000);
      if (process.env.FAULT_TIMELINE) console.log(JSON.stringify({ ended, own, others }));
      // A busy machine may not notice a short fault before it is over.
      if (duration >= 20) for (const noticed of [said, seen]) expect(noticed).toBeLessThan(duration * 1_000);
      // Nothing else is said meanwhile, and the tile stays in its place.
      expect(own.filter(({ at, lost }) => at > said && at < duration * 1_000 && lost === '')).toEqual([]);
      expect(others.filter(({ tile, alone }) => !tile?.includes('Ben') || alone)).toEqual([]);
      expect(own.filter(({ at, tile }) => at < duration * 1_000 && tile?.includes('Reconnecting'))).toEqual([]);
    });
  });

  test('a chat message that is written while the connection is lost arrives once, and none is accepted while the notice is shown', async () => {
    await untilRecovered([host, guest]);
    await host.button(/^Chat/).click();
    await guest.button(/^Chat/).click();
    const field = guest.page.getByLabel('Message', { exact: true });
    await field.fill('Before the cut');
    await guest.page.keyboard.press('Enter');
    const log = host.page.getByRole('log');
    await log.getByText('Before the cut').waitFor();
    const requests = guest.requests.length;
    namespace.begin('packets dropped');
    await field.fill('After the cut');
    await guest.page.keyboard.press('Enter');
    await guest.page.getByRole('log').getByText('After the cut').waitFor();
    await guest.page.getByText('You can send this when you’re connected again.').waitFor();
    expect(await guest.button('Send').getAttribute('aria-disabled')).toBe('true');
    await guest.picture('phone-light-chat-connection-lost');
    // The page has given up the connection that has the message.
    await expect.poll(() => guest.requests.slice(requests).some((url) => /\/(preview|seats)$/.test(url))).toBe(true);
    namespace.end('packets dropped');
    await log.getByText('After the cut').waitFor();
    await field.fill('Connected again');
    await expect.poll(() => guest.button('Send').getAttribute('aria-disabled')).toBeNull();
    await guest.page.keyboard.press('Enter');
    await log.getByText('Connected again').waitFor();
    for (const text of ['Before the cut', 'After the cut', 'Connected again']) expect(await log.getByText(text).count()).toBe(1);
    for (const { page } of [host, guest]) await page.keyboard.press('Escape');
  });

  test('a person who sends nothing sees it as soon, and does not read that their own connection is lost', async () => {
    await untilRecovered([host, guest]);
    await host.button('Mute').click();
    await host.button('Stop camera').click();
    await guest.page.locator('.tile', { hasText: 'Amina' }).locator('.disc').waitFor();
    // The page has forgotten that it received packets of others in reply to its own.
    await pause(5_000);
    const start = Date.now();
    namespace.begin('packets dropped');
    await host.page.locator('.tile[data-away]').waitFor();
    namespace.end('packets dropped');
    const shown = await shownSince(host, start);
    measured(
      'packets dropped, shown to a person who sends nothing',
      first(shown, ({ dimmed }) => dimmed),
      4_500,
    );
    if (process.env.FAULT_TIMELINE) console.log(JSON.stringify(shown));
    expect(shown.filter(({ lost }) => lost !== '')).toEqual([]);
    await host.page.locator('.tile[data-away]').waitFor({ state: 'detached' });
  });
});
