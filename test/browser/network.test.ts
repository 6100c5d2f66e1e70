import { networkInterfaces } from 'node:os';
import { setTimeout as pause } from 'node:timers/promises';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
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

/** Returns the result of the connection check in the lobby. */
async function check(person: Person, words: string): Promise<void> {
  await person.button('Check connection and devices').click();
  await person.page.getByRole('dialog').getByText(words).waitFor();
}

// A blocked connection has a long timeout, so the tests run concurrently.
describe('where UDP is blocked', () => {
  test('people meet over TCP, and read so', async () => {
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

  test('without a TCP port the page says what is wrong and what to do', async () => {
    const own = await Server.start();
    const room = await own.createRoom();
    const guest = await Person.arrive(firewalled, { viewport: phone });
    await guest.open(room.guest_link);
    await check(guest, 'TCP isn’t available. Try another network');
    await guest.seen('phone-light-check-none');
    await guest.page.keyboard.press('Escape');
    await guest.page.getByLabel('Your name').fill('Ben');
    await guest.button('Join').click();
    await guest.page.getByText('Your network blocks sound and video.').waitFor();
    await guest.seen('phone-light-no-media');
    await guest.close();
    await own.close();
  });
});

describe('on an open network', () => {
  test('the check says what was found, and takes nobody’s seat', async () => {
    const room = await server.createMeeting({});
    const guest = await Person.arrive(browser, { dark: true });
    await guest.open(room.guest_link);
    await guest.page.getByText('Nobody is here yet').waitFor();
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
    await host.page.getByText('Nobody is here yet').waitFor();
    await host.button('Join').click();
    await host.page.getByText('You’re the first one here').waitFor();
    await host.button('More').click();
    await check(host, 'Your connection is good. You’re connected over UDP.');
    guest.assertNoComplaints(server.url);
    for (const person of [guest, host]) await person.close();
  });
});

describe('a network that goes away', () => {
  test('is said, and who was in is back without a reload', async () => {
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
    expect(await host.page.locator('audio[data-identity]').count()).toBe(1);
    expect(await guest.hears()).toBeGreaterThan(audible);
    for (const person of [host, guest]) await person.close();
  });

  test('is said within seconds, and the others keep the place of whoever lost it', async () => {
    const own = await launch();
    const room = await server.createMeeting({});
    const host = await Person.arrive(browser);
    const guest = await Person.arrive(own, { viewport: phone });
    await host.join(room.final_link);
    await guest.join(room.guest_link, 'Ben');
    await Promise.all([host.untilSeen(), guest.untilSeen()]);
    const ben = host.page.locator('.tile', { hasText: 'Ben' });
    await ben.evaluate((tile) => tile.setAttribute('data-before', ''));

    // No packet passes, and nothing tells the browser.
    const network = await networkProcess(own);
    process.kill(network, 'SIGSTOP');
    try {
      await guest.page.getByRole('status').getByText('Connection lost, reconnecting…').waitFor();
      await guest.picture('phone-stage-lost');
      await ben.getByText('Reconnecting…').waitFor();
      expect(await host.page.getByText('Everyone else has left').count()).toBe(0);
      await host.seen('stage-reconnecting');
    } finally {
      process.kill(network, 'SIGCONT');
    }
    await Promise.all([guest.untilSeen(), host.untilSeen()]);
    await ben.getByText('Reconnecting…').waitFor({ state: 'detached' });
    expect(await host.page.locator('.tile[data-before]').count()).toBe(1);
    expect(await host.page.locator('.tile').count()).toBe(2);

    // A participant who leaves on purpose is gone at once.
    await guest.button('Leave').first().click();
    await host.page.getByText('Everyone else has left').waitFor();
    for (const person of [host, guest]) await person.close();
    await own.close();
  });
});
