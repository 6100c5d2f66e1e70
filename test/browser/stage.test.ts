import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Browser, Locator } from 'playwright-core';
import { desktop, launch, Person, phone } from './browser';
import { Server, type Room } from './server';

let server: Server;
let browser: Browser;

beforeAll(async () => {
  server = await Server.start();
  browser = await launch();
});

afterAll(async () => {
  await browser.close();
  await server.close();
});

const large = (person: Person): Locator => person.page.locator('.tile[data-large]');
const tile = (person: Person, name: string): Locator => person.page.locator('.tile', { hasText: name });
const stageSwitch = (person: Person, label: string): Locator => person.page.getByRole('switch', { name: label });

async function inMore(person: Person, act: () => Promise<void>): Promise<void> {
  await person.button(/^More/).click();
  await act();
  await person.page.keyboard.press('Escape');
}

/** Amina, the host, and guests by these names, in a video room. */
async function meet(names: string[], look: (name: string) => Parameters<typeof Person.arrive>[1] = () => ({})): Promise<{ room: Room; people: Person[] }> {
  const room = await server.createMeeting({});
  const people: Person[] = [];
  for (const name of ['Amina', ...names]) {
    const person = await Person.arrive(browser, look(name));
    await person.join(name === 'Amina' ? room.final_link : room.guest_link, name === 'Amina' ? undefined : name);
    people.push(person);
  }
  for (const { page } of people) await expect.poll(() => page.locator('.tile').count()).toBe(people.length);
  return { room, people };
}

async function partings(people: Person[], ...allowed: RegExp[]): Promise<void> {
  for (const person of people) {
    person.wellBehaved(server.url, allowed);
    await person.close();
  }
}

test('in speaker view whoever speaks is large, a pin stands above that, and it is remembered', async () => {
  const { people } = await meet(['Ben', 'Chen'], (name) => ({ viewport: name === 'Ben' ? phone : desktop, dark: name === 'Chen' }));
  const [amina, ben, chen] = people as [Person, Person, Person];
  expect(await large(amina).count()).toBe(0);
  await chen.button('Mute').click();
  await inMore(amina, async () => {
    await stageSwitch(amina, 'Show who speaks large').click();
    await amina.seen('stage-more');
  });
  await expect.poll(() => large(amina).innerText()).toContain('Ben');
  await amina.seen('stage-speaker');

  // The floor passes with the voice, and only to somebody who speaks.
  await ben.button('Mute').click();
  await chen.button('Unmute').click();
  await expect.poll(() => large(amina).innerText()).toContain('Chen');
  await chen.page.keyboard.press('g');
  await expect.poll(() => large(chen).innerText()).toContain('Amina');
  await chen.seen('stage-speaker-dark');

  // A pin, by keyboard alone.
  const pin = tile(amina, 'Ben').getByRole('button', { name: 'Pin Ben' });
  await pin.focus();
  await amina.page.keyboard.press('Enter');
  await expect.poll(() => large(amina).innerText()).toContain('Ben');
  expect(await pin.getAttribute('aria-pressed')).toBe('true');
  await amina.button(/^People/).click();
  await amina.button('Manage Chen').click();
  await amina.button('Pin').click();
  await amina.seen('stage-person');
  await amina.page.keyboard.press('Escape');
  await expect.poll(() => large(amina).count()).toBe(2);
  await amina.seen('stage-pinned');

  // On a phone, from the list.
  await inMore(ben, () => stageSwitch(ben, 'Show who speaks large').click());
  await expect.poll(() => large(ben).count()).toBe(1);
  await ben.seen('stage-phone-speaker');
  await ben.page.setViewportSize({ width: 844, height: 390 });
  await ben.seen('stage-phone-side-speaker');

  await amina.page.reload();
  await amina.button('Join').click();
  await expect.poll(() => large(amina).innerText()).toContain('Chen');
  await amina.page.keyboard.press('g');
  await expect.poll(() => large(amina).count()).toBe(0);
  await partings(people);
});

test('one can do without one’s own tile, and without those who have no picture', async () => {
  const { people } = await meet(['Ben', 'Chen']);
  const [amina, , chen] = people as [Person, Person, Person];
  await inMore(amina, () => stageSwitch(amina, 'Hide your own tile').click());
  await expect.poll(() => amina.page.locator('.tile').count()).toBe(2);
  expect(await tile(amina, 'Amina').count()).toBe(0);
  await chen.button('Stop camera').click();
  await inMore(amina, () => stageSwitch(amina, 'Hide people without picture').click());
  await expect.poll(() => amina.page.locator('.tile').count()).toBe(1);
  await amina.button('1 more').waitFor();
  await amina.seen('stage-faces-only');
  await amina.page.reload();
  await amina.button('Join').click();
  await amina.button('1 more').waitFor();
  expect(await amina.page.locator('.tile').count()).toBe(1);
  await partings(people);
});

test('each can be made quieter, for oneself, also after the connection was lost', async () => {
  const { people } = await meet(['Ben'], (name) => ({ viewport: name === 'Ben' ? phone : desktop }));
  const [amina, ben] = people as [Person, Person];
  const volume = (): Promise<number[]> => ben.page.locator('audio').evaluateAll((all) => all.map((one) => (one as HTMLAudioElement).volume));
  await ben.untilHeard();
  expect(await volume()).toEqual([1]);
  await ben.button(/^More/).click();
  await ben.button('2 people').click();
  await ben.button('Options for Amina').click();
  const slider = ben.page.getByRole('slider', { name: 'Volume' });
  await slider.focus();
  for (let i = 0; i < 16; i++) await ben.page.keyboard.press('ArrowLeft');
  await ben.page.locator('.roll-row', { hasText: 'Amina' }).locator('.badge', { hasText: '20%' }).waitFor();
  await ben.seen('stage-phone-volume');
  expect(await volume()).toEqual([0.2]);
  await ben.page.keyboard.press('Escape');
  await tile(ben, 'Amina').getByText('20%').waitFor();

  // Everybody comes back with a new connection; the sounds are new, too.
  await ben.page.locator('audio').evaluateAll((all) => all.forEach((one) => one.setAttribute('data-before', '')));
  await server.down('SIGKILL');
  await server.up();
  await ben.page.locator('audio:not([data-before])').waitFor({ state: 'attached', timeout: 30_000 });
  await ben.untilHeard();
  expect(await volume()).toEqual([0.2]);
  expect(await amina.page.locator('audio').evaluateAll((all) => all.map((one) => (one as HTMLAudioElement).volume))).toEqual([1]);
  await partings(people, /./);
});
