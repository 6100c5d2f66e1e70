import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, type Server as WebServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { resolve } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { ParleyRoom } from '../../web/embed/parleyRoom';
import { Person } from './browser';
import { browser, server, setUp } from './fixture';

setUp();

let other: WebServer;

beforeAll(async () => {
  // Another site serves the example of a frame in the guide. The text after "?" is the URL of the frame.
  other = createServer((request, answer) => {
    const shown = decodeURIComponent((request.url ?? '').replace(/^[^?]*\??/, ''));
    answer.setHeader('Content-Type', 'text/html');
    const page = example.replace('LINK', shown);
    if (request.url?.startsWith('/bare')) answer.end(page.replace(/ allow="[^"]*"/, ''));
    else if (request.url?.startsWith('/component')) {
      answer.end(`<!doctype html><script src="${server.url}/embed.js" async></script><parley-room link="${shown}"></parley-room>`);
    } else answer.end(page);
  }).listen(0, '127.0.0.1');
  await once(other, 'listening');
});

afterAll(() => void other.close());

const guide = readFileSync(resolve(import.meta.dirname, '../../docs/api/embedding.md'), 'utf8');
const [, example = ''] = /^```html\n([^`]*<iframe[^`]*)^```$/m.exec(guide) ?? [];

/** Lets pages of these origins show the rooms of the project. */
const allow = (...origins: string[]): void => server.set(`embed_origins=${origins.join(',')}`);

/** Returns the site under one of its two names, which are two origins. */
const siteAt = (host: string): string => `http://${host}:${(other.address() as AddressInfo).port}`;

test('only the origins that the project names can show a room in a frame', async () => {
  const room = await server.createRoom({ max_participants: 2 });
  const site = siteAt('localhost');
  const page = `${site}/?${encodeURIComponent(room.final_link)}`;

  const stranger = await Person.arrive(browser);
  await stranger.open(page);
  await expect.poll(() => stranger.complaints.join()).toContain('frame-ancestors');
  await stranger.close();

  allow(site);
  const framed = await Person.arrive(browser);
  await framed.open(page);
  const inside = framed.page.frameLocator('iframe');
  await inside.getByRole('button', { name: 'Join', exact: true }).click();
  await inside.getByText('You’re the first one here').waitFor();

  // The others hear the frame, because it may use the microphone.
  const guest = await Person.arrive(browser);
  await guest.join(room.guest_link, 'Benedikta');
  await guest.untilHeard();
  await guest.close();
  await framed.close();
});

/** Records the messages that a page receives about coming and going. */
async function recordMessages(person: Person): Promise<void> {
  await person.page.addInitScript(() => {
    if (window !== parent) return;
    const messages: unknown[] = [];
    Object.assign(globalThis, { messages });
    addEventListener('message', ({ data, origin }) => {
      if (['joined', 'left', 'ended'].includes(data.type)) messages.push({ ...data, origin });
    });
  });
}

function messagesTo(person: Person): Promise<unknown> {
  return person.page.evaluate(() => (globalThis as unknown as { messages: unknown }).messages);
}

test('the parent page receives joined, left and ended once each', async () => {
  allow(siteAt('localhost'));
  const room = await server.createRoom();
  const host = await Person.arrive(browser);
  await host.join(room.final_link);
  const framed = await Person.arrive(browser);
  await recordMessages(framed);
  await framed.open(`${siteAt('localhost')}/?${encodeURIComponent(`${room.guest_link}?name=Ana&lang=de`)}`);
  const inside = framed.page.frameLocator('iframe');
  expect(await inside.getByLabel('Ihr Name').inputValue()).toBe('Ana');
  await inside.getByRole('button', { name: 'Beitreten', exact: true }).click();
  await framed.page.getByText('You are in the room.').waitFor();
  // A lost connection that is restored sends no message.
  await server.down('SIGKILL');
  await server.up();
  await host.untilHeard();
  await inside.getByRole('button', { name: 'Verlassen', exact: true }).first().click();
  await framed.page.getByText('You left the room.').waitFor();
  await host.openRoomTab();
  await host.button('End for all…').click();
  await host.button('End for all').click();
  await host.page.getByRole('heading', { name: 'You ended the room' }).waitFor();
  await inside.getByRole('button', { name: 'Erneut beitreten' }).click();
  await framed.page.getByText('The room is over.').waitFor();
  await framed.picture('desktop-light-framed-ended');

  const expected = { source: 'parley', room_id: room.room_id, origin: server.url };
  expect(await messagesTo(framed)).toEqual([
    { ...expected, type: 'joined' },
    { ...expected, type: 'left', reason: 'left' },
    { ...expected, type: 'ended', reason: 'host' },
  ]);
  await host.close();
  await framed.close();
});

test('a frame that can store nothing keeps its seat when it is reloaded, and says what its page loses', async () => {
  const site = siteAt('localhost');
  allow(site);
  const room = await server.createRoom({ empty_timeout: 60 });
  const framed = await Person.arrive(browser);
  // The browser blocks the storage of frames of other sites.
  await framed.page.addInitScript(() => {
    if (window === parent) return;
    for (const name of ['localStorage', 'sessionStorage']) {
      Object.defineProperty(window, name, {
        get: () => {
          throw new DOMException('The operation is insecure.', 'SecurityError');
        },
      });
    }
  });
  await recordMessages(framed);
  await framed.open(`${site}/?${encodeURIComponent(room.final_link)}`);
  const inside = framed.page.frameLocator('iframe');
  await inside.getByText('If you reload the whole page, you’ll join as a new person.').waitFor();
  await framed.picture('desktop-light-frame-without-storage');
  await inside.getByRole('button', { name: 'Join', exact: true }).click();
  await inside.getByText('You’re the first one here').waitFor();
  for (let times = 0; times < 3; times++) {
    await inside.locator('body').evaluate(() => void setTimeout(() => location.reload()));
    await inside.getByRole('button', { name: 'Leave', exact: true }).first().waitFor({ state: 'detached' });
    await inside.getByRole('button', { name: 'Rejoin', exact: true }).click();
    await inside.getByRole('button', { name: 'Leave', exact: true }).first().waitFor();
  }
  // Still the host, and one person.
  await inside.getByRole('button', { name: /^More/ }).click();
  await inside.getByRole('button', { name: 'Room details' }).click();
  await inside.getByRole('button', { name: 'End for all…' }).waitFor();
  expect(await server.participants(room.room_id)).toBe(1);
  // After each joined comes one left.
  const event = { source: 'parley', room_id: room.room_id, origin: server.url };
  const joined = { ...event, type: 'joined' };
  const unloaded = { ...event, type: 'left', reason: 'unloaded' };
  expect(await messagesTo(framed)).toEqual([joined, unloaded, joined, unloaded, joined, unloaded, joined]);
  // A frame that the page removes says nothing.
  await framed.page.evaluate(() => document.querySelector('iframe')?.remove());
  await expect.poll(() => server.participants(room.room_id)).toBe(0);
  expect(await messagesTo(framed)).toHaveLength(7);
  await framed.close();
});

test('the component says once that the visitor left when its frame is loaded again, also after a crash', async () => {
  const site = siteAt('localhost');
  allow(site);
  const room = await server.createRoom({ empty_timeout: 60 });
  const framed = await Person.arrive(browser);
  await framed.open(`${site}/component?${encodeURIComponent(room.final_link)}`);
  await framed.page.evaluate(() => {
    const events: unknown[] = [];
    Object.assign(globalThis, { events });
    for (const type of ['joined', 'left', 'ended']) {
      document.addEventListener(type, (event) =>
        events.push([type, (event as CustomEvent<{ reason?: string } | null>).detail?.reason ?? null]),
      );
    }
  });
  const inside = framed.page.frameLocator('parley-room iframe');
  const state = (): Promise<unknown> => framed.page.evaluate(() => (document.querySelector('parley-room') as ParleyRoom).state);
  await inside.getByRole('button', { name: 'Join', exact: true }).click();
  for (const crashed of [false, true, false]) {
    await expect.poll(state).toBe('inside');
    await inside.locator('body').evaluate((_, crashed) => {
      // A page that crashes runs none of its listeners.
      if (crashed) addEventListener('pagehide', (event) => event.stopImmediatePropagation(), { capture: true });
      setTimeout(() => location.reload());
    }, crashed);
    await expect.poll(state).toBe('outside');
    await inside.getByRole('button', { name: 'Rejoin', exact: true }).click();
  }
  await expect.poll(state).toBe('inside');
  const [joined, unloaded] = [
    ['joined', null],
    ['left', 'unloaded'],
  ];
  const events = await framed.page.evaluate(() => (globalThis as unknown as { events: unknown }).events);
  expect(events).toEqual([joined, unloaded, joined, unloaded, joined, unloaded, joined]);
  await framed.close();
});

test('a frame that may not use devices says so, and leads to a tab of its own', async () => {
  allow(siteAt('localhost'));
  const room = await server.createRoom();
  const framed = await Person.arrive(browser);
  await framed.open(`${siteAt('localhost')}/bare?${encodeURIComponent(room.guest_link)}`);
  const inside = framed.page.frameLocator('iframe');
  // The site has been allowed the microphone before, so the page tries by itself.
  await inside.getByText('The page around this one may block access.').waitFor();
  await framed.picture('desktop-light-frame-without-devices');
  expect(await inside.getByRole('link', { name: 'Open in a new tab' }).getAttribute('href')).toBe(room.guest_link);
  await framed.close();
});

test('another site cannot show the room and receives no message', async () => {
  allow(siteAt('localhost'));
  const room = await server.createRoom();
  const stranger = await Person.arrive(browser);
  await recordMessages(stranger);
  await stranger.open(`${siteAt('127.0.0.1')}/?${encodeURIComponent(room.guest_link)}`);
  const refusals = (): number => stranger.complaints.filter((text) => text.includes('frame-ancestors')).length;
  await expect.poll(refusals).toBeGreaterThan(0);
  // A site that is not allowed cannot frame an allowed site either.
  const nested = `${siteAt('localhost')}/?${encodeURIComponent(room.guest_link)}`;
  stranger.complaints.length = 0;
  await stranger.open(`${siteAt('127.0.0.1')}/?${encodeURIComponent(nested)}`);
  await expect.poll(refusals).toBeGreaterThan(0);
  expect(await messagesTo(stranger)).toEqual([]);
  await stranger.close();
});
