import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { resolve } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import type { ParleyRoom } from '../../../web/embed/parleyRoom';
import { Person } from '../browser';
import { browser, server, setUp } from '../fixture';

setUp();

const guide = readFileSync(resolve(import.meta.dirname, '../../../docs/api/embedding.md'), 'utf8');
const [, example = ''] = /^```html\n([^`]*<parley-room[^`]*)^```$/m.exec(guide) ?? [];
const [, policy = ''] = /^Content-Security-Policy: (.*)$/m.exec(guide) ?? [];

/** What the page of `startSite` has besides the example. */
interface Recorded {
  room: ParleyRoom;
  events: { type: string; detail: object | null }[];
}

/**
 * Starts a site whose page is the example of the guide, with the policy of the guide and nothing else
 * allowed. The text after "?" is the link. Returns the origins of its two names.
 */
async function startSite(): Promise<{ listed: string; unlisted: string }> {
  const fill = (text: string): string => text.replaceAll('{{base_url}}', server.url);
  const [, script = ''] = /<script>(.*)<\/script>/s.exec(example) ?? [];
  const own = createHash('sha256').update(script).digest('base64');
  const site = createServer((request, answer) => {
    const link = decodeURIComponent((request.url ?? '').replace(/^[^?]*\??/, ''));
    answer.setHeader('Content-Type', 'text/html');
    answer.setHeader('Content-Security-Policy', `default-src 'none'; ${fill(policy).replace('script-src', `script-src 'sha256-${own}'`)}`);
    answer.end(fill(example).replace('LINK', link));
  }).listen(0, '127.0.0.1');
  onTestFinished(() => void site.close());
  await once(site, 'listening');
  const { port } = site.address() as AddressInfo;
  return { listed: `http://localhost:${port}`, unlisted: `http://127.0.0.1:${port}` };
}

/** Opens the page of the site and records the events of its component. */
async function visit(origin: string, link: string): Promise<Person> {
  const person = await Person.arrive(browser);
  await person.open(`${origin}/?${encodeURIComponent(link)}`);
  await person.page.waitForFunction(() => customElements.get('parley-room') !== undefined);
  await person.page.evaluate(() => {
    const events: Recorded['events'] = [];
    Object.assign(globalThis, { events });
    for (const type of ['joined', 'left', 'ended', 'people', 'mute']) {
      // The events bubble, so that a page can listen to all of its rooms.
      document.addEventListener(type, (event) => events.push({ type, detail: (event as CustomEvent<object | null>).detail }));
    }
  });
  return person;
}

/** Calls a function in the page, with its component and the events so far. */
const withRoom = <T>(person: Person, use: (recorded: Recorded) => T | Promise<T>): Promise<T> =>
  person.page.evaluate(`(${use.toString()})({ room: document.querySelector('parley-room'), events: globalThis.events })`) as Promise<T>;

/** Returns why a method was rejected. */
const refusalOf = (person: Person, method: 'unmuteMicrophone' | 'unmuteCamera' | 'leave'): Promise<string> =>
  person.page.evaluate((method) => {
    const room = document.querySelector('parley-room') as ParleyRoom;
    return room[method]().then(
      () => 'done',
      (error: Error) => error.message,
    );
  }, method);

test('a page of another site follows a visit with the web component, mutes, unmutes and leaves', async () => {
  const room = await server.createRoom();
  const { listed } = await startSite();
  server.set(`embed_origins=${listed}`);
  const host = await Person.arrive(browser);
  await host.join(room.final_link);
  const framed = await visit(listed, `${room.guest_link}#name=Ana`);
  const inside = framed.page.frameLocator('parley-room iframe');
  const state = (): Promise<unknown> =>
    withRoom(framed, ({ room: { state, people, microphoneMuted, cameraMuted } }) => ({ state, people, microphoneMuted, cameraMuted }));
  expect(await state()).toEqual({ state: 'outside', people: 0, microphoneMuted: true, cameraMuted: true });
  expect(await refusalOf(framed, 'leave')).toBe('The visitor is not in the room.');

  await inside.getByRole('button', { name: 'Join', exact: true }).click();
  await framed.page.getByText('You are in the room.').waitFor();
  await expect.poll(state).toEqual({ state: 'inside', people: 2, microphoneMuted: false, cameraMuted: true });
  await host.untilHeard();
  await framed.picture('desktop-light-component');

  await withRoom(framed, ({ room }) => room.muteMicrophone());
  expect(await state()).toEqual({ state: 'inside', people: 2, microphoneMuted: true, cameraMuted: true });
  await inside.getByRole('button', { name: 'Unmute', exact: true }).waitFor();
  await host.untilSilent();
  await withRoom(framed, ({ room }) => room.unmuteMicrophone());
  expect(await state()).toEqual({ state: 'inside', people: 2, microphoneMuted: false, cameraMuted: true });
  await host.untilHeard();
  expect(await refusalOf(framed, 'unmuteCamera')).toBe('This room has no video.');

  // The room allows a method only what it allows the button.
  await host.button(/^People/).click();
  await host.button('Guest permissions').click();
  await host.page.getByRole('switch', { name: 'Use microphone' }).click();
  await expect.poll(state).toMatchObject({ state: 'inside', microphoneMuted: true });
  expect(await refusalOf(framed, 'unmuteMicrophone')).toBe('The room does not allow this visitor to use the microphone.');

  await withRoom(framed, ({ room }) => room.leave());
  expect(await state()).toEqual({ state: 'outside', people: 0, microphoneMuted: true, cameraMuted: true });
  await framed.page.getByText('You left the room.').waitFor();
  await inside.getByRole('heading', { name: 'You left the room' }).waitFor();
  await host.page.getByText('Nobody else is here now').waitFor();
  const events = await withRoom(framed, ({ events }) => events);
  expect(events.filter(({ type }) => type === 'joined' || type === 'left')).toEqual([
    { type: 'joined', detail: null },
    { type: 'left', detail: { reason: 'left' } },
  ]);
  expect(events).toContainEqual({ type: 'people', detail: { count: 2 } });
  const mute = (microphone: boolean): object => ({ type: 'mute', detail: { microphone, camera: true } });
  expect(events.filter(({ type }) => type === 'mute').slice(-4)).toEqual([mute(false), mute(true), mute(false), mute(true)]);

  // A page that removes the element ends the visit. The server of the script is the one of the next room.
  await inside.getByRole('button', { name: 'Rejoin' }).click();
  await expect.poll(state).toMatchObject({ state: 'inside', people: 2 });
  await host.page.getByText('Ana').first().waitFor();
  await withRoom(framed, ({ room }) => room.remove());
  await host.page.getByText('Nobody else is here now').waitFor();
  await framed.page.evaluate(
    ({ room_id }) => document.body.append(Object.assign(document.createElement('parley-room'), { room: room_id, name: 'Ben', lang: 'de' })),
    room,
  );
  expect(await inside.getByLabel('Ihr Name').inputValue()).toBe('Ben');
  const { width, height } = (await framed.page.locator('parley-room iframe').boundingBox()) ?? {};
  expect({ width, height }).toEqual({ width: 1264, height: 640 });
  // The policy of the page has blocked nothing.
  expect(framed.complaints).toEqual([]);
  for (const person of [host, framed]) await person.close();
});

test('a page of a site that is not listed shows no room and sees nothing', async () => {
  const room = await server.createRoom();
  const { listed, unlisted } = await startSite();
  server.set(`embed_origins=${listed}`);
  const stranger = await visit(unlisted, room.guest_link);
  await expect.poll(() => stranger.complaints.join()).toContain('frame-ancestors');
  expect(await refusalOf(stranger, 'leave')).toBe('The visitor is not in the room.');
  expect(await withRoom(stranger, ({ room: { state, people }, events }) => ({ state, people, events }))).toEqual({
    state: 'outside',
    people: 0,
    events: [],
  });
  await stranger.close();
});
