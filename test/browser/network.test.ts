import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { networkInterfaces } from 'node:os';
import { setTimeout as pause } from 'node:timers/promises';
import type { Browser, Locator } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { audible, fakeDevices, launch, networkProcess, Person, phone } from './browser';
import { browser, server, setUp } from './fixture';
import { freeTCPPort, Server } from './server';

setUp();

/** Makes the browser send nothing over UDP, as behind a strict firewall. */
const withoutUDP = '--webrtc-ip-handling-policy=disable_non_proxied_udp';

let firewalled: Browser;
/** The browser whose network is disconnected. */
let cut: Browser;

beforeAll(async () => {
  firewalled = await launch([...fakeDevices, withoutUDP]);
  cut = await launch();
});

afterAll(async () => {
  await firewalled.close();
  await cut.close();
});

/**
 * An address of this machine that is not loopback: on loopback alone the engine
 * opens no port for TCP.
 */
function address(): string {
  const all = Object.values(networkInterfaces()).flatMap((list) => list ?? []);
  const found = all.find(({ family, internal }) => family === 'IPv4' && !internal);
  if (!found) throw new Error('this machine has no address but loopback, and media over TCP needs one');
  return found.address;
}

/** Opens connections from 200 addresses. Half of them send the beginning of a TLS handshake. */
async function openIdle(port: number, count: number): Promise<Socket[]> {
  const all = Array.from({ length: count }, (_, n) => {
    const socket = connect({ host: '127.0.0.1', port, localAddress: `127.0.1.${n % 200}` });
    socket.on('error', () => {}); // the server closes some for others
    return socket;
  });
  await Promise.all(all.map((socket) => once(socket, 'connect')));
  for (const [n, socket] of all.entries()) if (n % 2) socket.write(Buffer.from([0x16, 3, 1]));
  return all;
}

/** Returns the result of the connection check in the lobby. */
async function check(person: Person, words: string): Promise<void> {
  await person.button('Check connection and devices').click();
  await person.page.getByRole('dialog').getByText(words).waitFor();
}

describe('where UDP is blocked', () => {
  test('people meet over TCP, and the page says so', async () => {
    const own = await Server.start('--rtc-node-ip', address(), '--rtc-tcp-port', String(await freeTCPPort()));
    const room = await own.createMeeting({});
    const host = await Person.arrive(firewalled);
    const guest = await Person.arrive(firewalled, { viewport: phone });
    await guest.open(room.guest_link);
    await check(guest, 'Your network blocks UDP, so you’ll connect over TCP.');
    await guest.page.getByText(/The server responds in \d+ ms/).waitFor();
    await guest.seen('phone-light-check-tcp');
    await guest.page.keyboard.press('Escape');
    await guest.page.getByLabel('Your name').fill('Ben');
    await guest.button('Join').click();
    await host.join(room.final_link);
    await Promise.all([host.untilHeard(), guest.untilHeard()]);
    await Promise.all([host.untilSeen(), guest.untilSeen()]);

    await host.button('More').click();
    await check(host, 'Your network blocks UDP, so you’re connected over TCP.');
    await host.seen('desktop-light-check-connected-tcp');
    for (const person of [host, guest]) await person.close();
    await own.close();
  });

  test.each([
    ['ICE over TCP', 'tcp'],
    ['TURN over TCP', 'turn:'],
    ['TURN over TLS', 'turns:'],
  ] as const)('people meet on the port for HTTPS by %s', async (_, way) => {
    vi.stubEnv('NODE_TLS_REJECT_UNAUTHORIZED', '0');
    const own = await Server.startSecure();
    const trusting = await launch([...fakeDevices, withoutUDP, '--ignore-certificate-errors']);
    try {
      const room = await own.createMeeting({});
      const host = await Person.arrive(trusting);
      const guest = await Person.arrive(trusting);
      for (const person of [host, guest]) await person.useOnly(way);
      await guest.open(room.guest_link);
      await check(guest, 'Your network blocks UDP, so you’ll connect over TCP.');
      await guest.page.keyboard.press('Escape');
      await guest.page.getByLabel('Your name').fill('Ben');
      await guest.button('Join').click();
      await host.join(room.final_link);
      await Promise.all([host.untilHeard(), guest.untilHeard()]);
      await Promise.all([host.untilSeen(), guest.untilSeen()]);
      for (const person of [host, guest]) person.assertNoComplaints(own.url, []);
    } finally {
      await trusting.close();
      await own.close();
      vi.unstubAllEnvs();
    }
  });

  test('people meet while 5,000 connections are open that say nothing', async () => {
    vi.stubEnv('NODE_TLS_REJECT_UNAUTHORIZED', '0');
    const own = await Server.startSecure('--max-connections', '5000');
    const trusting = await launch([...fakeDevices, withoutUDP, '--ignore-certificate-errors']);
    const room = await own.createMeeting({});
    const idle = await openIdle(own.udpPort, 5000); // TCP has the same number
    try {
      const host = await Person.arrive(trusting);
      const guest = await Person.arrive(trusting, { viewport: phone });
      await host.join(room.final_link);
      await guest.join(room.guest_link, 'Ben');
      await Promise.all([host.untilHeard(), guest.untilHeard()]);
      for (const person of [host, guest]) person.assertNoComplaints(own.url, []);
    } finally {
      for (const socket of idle) socket.destroy();
      await trusting.close();
      await own.close();
      vi.unstubAllEnvs();
    }
  });

  test('without a TCP port the page names the problem and the remedy', async () => {
    const own = await Server.start();
    const room = await own.createRoom();
    const guest = await Person.arrive(firewalled, { viewport: phone });
    await guest.open(room.guest_link);
    await check(guest, 'Sound and video can’t reach');
    await guest.seen('phone-light-check-none');
    await guest.page.keyboard.press('Escape');
    await guest.page.getByLabel('Your name').fill('Ben');
    await guest.button('Join').click();
    await guest.page.getByText('Sound and video can’t reach').waitFor();
    await guest.seen('phone-light-no-media');
    await guest.close();
    await own.close();
  });
});

describe('on an open network', () => {
  test('the check shows its result, and does not take over a seat', async () => {
    const room = await server.createMeeting({});
    const guest = await Person.arrive(browser, { dark: true });
    await guest.open(room.guest_link);
    await guest.page.getByText('Nobody is here now').waitFor();
    await check(guest, 'Your connection is good (UDP).');
    const sheet = guest.page.getByRole('dialog');
    await sheet.getByText(/The server responds in \d+ ms/).waitFor();
    await sheet.getByText('Your microphone works.').waitFor();
    await sheet.getByText('Your camera works.').waitFor();
    await guest.button('Test speaker').click();
    await sheet.getByText('If you heard two tones, your speaker works.').waitFor();
    await guest.seen('desktop-dark-check');
    await guest.button('Check again').click();
    await sheet.getByText('Your connection is good (UDP).').waitFor();
    await guest.page.keyboard.press('Escape');

    const host = await Person.arrive(browser);
    await host.open(room.final_link);
    await host.page.getByText('Nobody is here now').waitFor();
    await host.button('Join').click();
    await host.page.getByText('You’re the first one here').waitFor();
    await host.button('More').click();
    await check(host, 'Your connection is good. You’re connected over UDP.');
    guest.assertNoComplaints(server.url);
    for (const person of [guest, host]) await person.close();
  });

  test('people meet over UDP alone with the number of the port for HTTPS', async () => {
    vi.stubEnv('NODE_TLS_REJECT_UNAUTHORIZED', '0');
    const own = await Server.startSecure();
    const trusting = await launch([...fakeDevices, '--ignore-certificate-errors']);
    try {
      const room = await own.createRoom();
      const host = await Person.arrive(trusting);
      const guest = await Person.arrive(trusting);
      for (const person of [host, guest]) await person.useOnly('udp');
      await host.join(room.final_link);
      await guest.join(room.guest_link, 'Ben');
      await Promise.all([host.untilHeard(), guest.untilHeard()]);
      for (const person of [host, guest]) {
        await person.button('More').click();
        await check(person, 'Your connection is good. You’re connected over UDP.');
      }
    } finally {
      await trusting.close();
      await own.close();
      vi.unstubAllEnvs();
    }
  });
});

describe('a network that goes away', () => {
  test('is reported, and the participants return without a reload', async () => {
    const room = await server.createRoom();
    const host = await Person.arrive(browser);
    const guest = await Person.arrive(cut, { viewport: phone });
    await host.join(room.final_link);
    await guest.join(room.guest_link, 'Ben');
    await Promise.all([host.untilHeard(), guest.untilHeard()]);
    await guest.page.evaluate(() => Object.assign(globalThis, { samePage: true }));

    // The browser is told that it is offline, and its packets are dropped.
    const network = await networkProcess(cut);
    await guest.context.setOffline(true);
    process.kill(network, 'SIGSTOP');
    try {
      await guest.page
        .getByRole('status')
        .getByText(/econnecting/)
        .first()
        .waitFor();
      await guest.picture('phone-light-offline');
      await guest.untilSilent();
      await pause(10_000);
    } finally {
      process.kill(network, 'SIGCONT');
    }
    await guest.context.setOffline(false);
    await Promise.all([guest.untilHeard(), host.untilHeard()]);
    await guest.page
      .getByText(/econnecting/)
      .first()
      .waitFor({ state: 'detached' });
    expect(await guest.page.evaluate(() => 'samePage' in globalThis)).toBe(true);
    await expect.poll(() => host.page.locator('audio[data-identity]').count()).toBe(1);
    expect(await guest.hears()).toBeGreaterThan(audible);
    for (const person of [host, guest]) await person.close();
  });
});

describe('a network that one of four people loses', () => {
  test('is reported within seconds, and the others keep the tile and the last picture of the lost participant', async () => {
    const own = await launch();
    const room = await server.createMeeting({});
    const host = await Person.arrive(browser);
    const guest = await Person.arrive(own, { viewport: phone });
    const off = await Person.arrive(own);
    const dana = await Person.arrive(browser);
    await host.join(room.final_link);
    await guest.join(room.guest_link, 'Ben');
    await off.join(room.guest_link, 'Chen');
    await dana.join(room.guest_link, 'Dana');
    const ben = host.page.locator('.tile', { hasText: 'Ben' });
    const chen = host.page.locator('.tile', { hasText: 'Chen' });
    await Promise.all([host.untilSeen(), guest.untilSeen()]);
    for (const name of ['Ben', 'Chen', 'Dana'])
      await host.page.locator('.tile', { hasText: name }).locator('video:not(.unsized)').waitFor();
    await off.button('Stop camera').click();
    // In the row of people without video.
    await host.page.locator('.tile[data-chip]', { hasText: 'Chen' }).waitFor();
    await ben.evaluate((tile) => tile.setAttribute('data-before', ''));
    expect(await host.page.locator('.tile canvas').count()).toBe(0);
    expect(await ringOf(ben)).not.toBe('none');

    // No packet passes, and nothing tells the browser.
    const network = await networkProcess(own);
    process.kill(network, 'SIGSTOP');
    try {
      await guest.page.getByRole('status').getByText('Connection lost, reconnecting…').waitFor();
      expect(await ringOf(guest.page.locator('.tile', { hasText: 'Amina' }))).toBe('none');
      await guest.seen('phone-stage-lost');
      await ben.getByText('Reconnecting…').waitFor();
      expect(await host.page.getByText('Nobody else is here now').count()).toBe(0);
      await chen.getByText('Reconnecting…').waitFor();
      // Long enough that a person without video would have moved to the row below.
      await pause(4_000);
      expect(await ben.locator('video').count()).toBe(0);
      expect(await contrastOf(ben.locator('canvas'))).toBeGreaterThan(60);
      expect(await ben.getAttribute('data-chip')).toBeNull();
      expect(await ringOf(ben)).toBe('none');
      expect(await chen.locator('canvas').count()).toBe(0);
      await chen.locator('.disc').waitFor();
      await host.seen('stage-reconnecting');
    } finally {
      process.kill(network, 'SIGCONT');
    }
    await Promise.all([guest.untilSeen(), host.untilSeen()]);
    for (const tile of [ben, chen]) await tile.getByText('Reconnecting…').waitFor({ state: 'detached' });
    await ben.locator('video:not(.unsized)').waitFor();
    expect(await host.page.locator('.tile canvas').count()).toBe(0);
    expect(await host.page.locator('.tile[data-before]').count()).toBe(1);
    expect(await host.page.locator('.tile').count()).toBe(4);

    // A participant who leaves on purpose is gone at once.
    for (const person of [guest, off, dana]) await person.button('Leave').first().click();
    await host.page.getByText('Nobody else is here now').waitFor();
    for (const person of [host, guest, off, dana]) await person.close();
    await own.close();
  });
});

describe('a participant who loses the connection', () => {
  test('keeps the tile for two minutes, and gets it back undimmed after a return', async () => {
    const own = await launch();
    const room = await server.createRoom();
    const host = await Person.arrive(browser);
    const guest = await Person.arrive(own, { viewport: phone });
    // The clock that measures durations can be set forward, and timers go on as they do.
    await host.page.addInitScript(() => {
      const now = performance.now.bind(performance);
      Object.assign(globalThis, { ahead: 0 });
      performance.now = () => now() + (globalThis as unknown as { ahead: number }).ahead;
    });
    const setAhead = (ahead: number): Promise<unknown> => host.page.evaluate((ahead) => Object.assign(globalThis, { ahead }), ahead);
    await host.join(room.final_link);
    await guest.join(room.guest_link, 'Ben');
    await host.untilHeard();
    const ben = host.page.locator('.face', { hasText: 'Ben' });
    const network = await networkProcess(own);
    process.kill(network, 'SIGSTOP');
    try {
      // From now on the server counts him as gone.
      await ben.getByText('Reconnecting…').waitFor();
      await setAhead(110_000);
      // The page looks every half second who is to go.
      await pause(1_500);
      expect(await ben.getAttribute('data-away')).not.toBeNull();
      expect(await host.page.getByText('Nobody else is here now').count()).toBe(0);
      await setAhead(121_000);
      await ben.waitFor({ state: 'detached' });
      await host.page.getByText('Nobody else is here now').waitFor();
    } finally {
      process.kill(network, 'SIGCONT');
    }
    await ben.waitFor();
    await host.untilHeard();
    expect(await ben.getAttribute('data-away')).toBeNull();
    expect(await ben.getByText('Reconnecting…').count()).toBe(0);
    for (const person of [host, guest]) await person.close();
    await own.close();
  });
});

/** Returns the ring that a tile has while the person speaks. */
const ringOf = (tile: Locator): Promise<string> =>
  tile.evaluate(async (element) => {
    element.setAttribute('data-speaking', '');
    const ring = getComputedStyle(element, '::after');
    await Promise.allSettled(element.getAnimations({ subtree: true }).map((animation) => animation.finished));
    const { boxShadow } = ring;
    element.removeAttribute('data-speaking');
    return boxShadow;
  });

/** Returns the difference between the brightest and the darkest point of a picture, from 0 to 255. */
const contrastOf = (canvas: Locator): Promise<number> =>
  canvas.evaluate((element: HTMLCanvasElement) => {
    const { data } = element.getContext('2d')?.getImageData(0, 0, element.width, element.height) ?? { data: [] };
    const points = Array.from({ length: data.length / 4 }, (_, n) =>
      Math.max(data[4 * n] ?? 0, data[4 * n + 1] ?? 0, data[4 * n + 2] ?? 0),
    );
    return points.reduce((a, b) => Math.max(a, b), 0) - points.reduce((a, b) => Math.min(a, b), 255);
  });
