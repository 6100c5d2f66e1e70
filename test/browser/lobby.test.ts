import type { Locator } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { launch, Person, phone } from './browser';
import { drawCamera, faces } from './faces';
import { browser, closeAll, server, setUp } from './fixture';
import type { Room } from './server';

setUp();

const title = 'Algebra II, group B: quadratic equations, completing the square and graphs, lesson 14, part 2';
const welcome = 'Welcome to the lesson.\nPlease have your book open at page 12.\nNotes: https://example.org/notes';

const inMinutes = (minutes: number): Date => new Date(Date.now() + minutes * 60_000);

/** Creates a video room with a title of 90 letters and a welcome message of three lines, which starts in some minutes or is open. */
const create = (minutes = 0): Promise<Room> =>
  server.createMeeting(
    {},
    {
      ...(minutes && { start: inMinutes(minutes) }),
      metadata: { room_title: title, welcome_message: welcome, room_features: { breakout_room_features: { allowed_number_rooms: 0 } } },
    },
  );

/** The states of the lobby, each with what is changed in the server's answer. */
const states = [
  { state: 'open', start: 0, join: 'Join', you: {}, others: { count: 5, names: ['Amina Diallo', 'Carlos Ruiz', 'Dana Weiss'] } },
  { state: 'scheduled', start: 26 * 60, join: 'Join when it opens', you: {} },
  { state: 'early', start: 9, join: 'Join when it opens', you: {} },
  { state: 'waits', start: 0, join: 'Ask to join', you: { waits: true } },
  { state: 'linkTaken', start: 0, join: 'Join', you: { link: 'taken' } },
  { state: 'hostEarly', start: 9, join: 'Open the room now', you: {}, host: true },
];

/** The windows, and how far down the name field and the button may reach. */
const windows = [
  { width: 320, height: 568, bottom: 568, joinBottom: Infinity },
  { width: 360, height: 640, bottom: 560, joinBottom: 560 },
  { width: 390, height: 664, bottom: 560, joinBottom: 560 },
  { width: 1280, height: 720, bottom: 720, joinBottom: 720 },
  { width: 1366, height: 650, bottom: 650, joinBottom: 650 },
];

const endOf = async (element: Locator): Promise<number> => {
  const box = await element.boundingBox();
  return box ? box.y + box.height : Infinity;
};

describe.each(windows)('$width × $height', ({ bottom, joinBottom, ...viewport }) => {
  test('shows the name field and the button to join without scrolling, in every state', async () => {
    const person = await Person.arrive(browser, { viewport });
    const { page } = person;
    for (const { state, start, join, you, others, host } of states) {
      const room = await create(start);
      await page.route('**/preview', async (route) => {
        const answer = await route.fetch();
        const preview = (await answer.json()) as { you: object };
        await route.fulfill({ response: answer, json: { ...preview, ...(others && { others }), you: { ...preview.you, ...you } } });
      });
      await page.route('**/seats', (route) => route.fulfill({ status: 202, json: { ask_again_in: 60 } }));
      await person.open(host ? room.final_link : room.guest_link);
      await person.button(join).waitFor();
      await page.getByLabel('Your name').fill('Ben');
      const buttons = [person.button(join)];
      if (state === 'waits') {
        await person.button(join).click();
        buttons.splice(0, 1, person.button('Stop waiting'));
        await person.button('Stop waiting').waitFor();
      }
      await page.evaluate(() => scrollTo(0, 0));
      expect(await endOf(page.getByLabel('Your name')), `${state}: name`).toBeLessThanOrEqual(bottom);
      for (const button of buttons) {
        expect(await endOf(button), `${state}: ${await button.textContent()}`).toBeLessThanOrEqual(joinBottom);
      }
      await person.seen(`lobby-${viewport.width}-${state}`);
      await page.unroute('**/preview');
      await page.unroute('**/seats');
    }
    await person.close();
  });
});

test('blocked devices push neither the name field nor the button to join down, and the page says what to do in this browser', async () => {
  const asking = await launch(['--use-fake-device-for-media-stream', '--deny-permission-prompts']);
  const room = await create();
  for (const [userAgent, advice] of [
    [null, 'Click the icon next to the address'],
    ['Mozilla/5.0 (Linux; Android 10; K) AppleWebKit/537.36 Chrome/156.0.0.0 Mobile Safari/537.36', 'then Permissions.'],
    ['Mozilla/5.0 (X11; Linux x86_64; rv:150.0) Gecko/20100101 Firefox/150.0', 'Click the crossed-out icon'],
    ['Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605 Version/18.5 Safari/605', 'In the Safari menu'],
    ['Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) AppleWebKit/605 Mobile/15E148 Safari/604', 'then Website Settings'],
    ['Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) AppleWebKit/605 Mobile/15E148 Instagram', 'Open the link in a browser'],
  ] as const) {
    const person = await Person.arrive(asking, { microphone: false });
    const { page } = person;
    await page.addInitScript((userAgent) => {
      if (userAgent) Object.defineProperty(navigator, 'userAgent', { get: () => userAgent });
    }, userAgent);
    await person.open(room.guest_link);
    await page.getByLabel('Your name').fill('Ben');
    for (const name of ['Microphone', 'Camera'] as const) {
      const button = page.getByRole('button', { name, exact: true });
      await button.waitFor();
      await button.click();
    }
    // One reason, one advice and one button for both devices.
    await page.getByText('Your browser blocks the microphone and the camera.').waitFor();
    await page.getByText(advice).waitFor();
    expect(await person.button('Try again').count()).toBe(1);
    for (const { bottom, joinBottom, ...viewport } of windows) {
      await page.setViewportSize(viewport);
      await page.evaluate(() => scrollTo(0, 0));
      expect(await endOf(page.getByLabel('Your name')), `${viewport.width}: name`).toBeLessThanOrEqual(bottom);
      expect(await endOf(person.button('Join')), `${viewport.width}: Join`).toBeLessThanOrEqual(joinBottom);
      if (!userAgent) await person.seen(`lobby-blocked-${viewport.width}`);
    }
    await person.close();
  }
  await asking.close();
});

test('a missing name is said, and its field gets the focus and a thick border', async () => {
  const person = await Person.arrive(browser);
  await person.open((await create()).guest_link);
  const field = person.page.getByLabel('Your name');
  await person.button('Join').click();
  await person.page.getByText('Enter your name first.').waitFor();
  expect(await field.evaluate((input) => input === document.activeElement)).toBe(true);
  expect(await field.evaluate((input) => getComputedStyle(input).borderTopWidth)).toBe('2px');
  await field.fill('Ben');
  expect(await field.evaluate((input) => getComputedStyle(input).borderTopWidth)).toBe('1px');
  await closeAll([person]);
});

test('the lobby names the participants, and a message has links', async () => {
  const room = await create();
  const host = await Person.arrive(browser);
  await host.join(room.final_link);
  const guest = await Person.arrive(browser);
  await guest.open(room.guest_link);
  await guest.page.getByText(/Amina.* is here/).waitFor();
  const link = guest.page.getByRole('link', { name: 'https://example.org/notes' });
  expect(await link.getAttribute('rel')).toBe('noopener noreferrer');
  await closeAll([host, guest]);
});

test('the buttons on the preview show the real state of the devices', async () => {
  const asking = await launch(['--use-fake-device-for-media-stream', '--deny-permission-prompts']);
  const room = await server.createMeeting({});
  const blocked = await Person.arrive(asking, { microphone: false });
  const working = await Person.arrive(browser);
  const state = (person: Person, name: 'Microphone' | 'Camera', pressed: boolean) =>
    person.page.getByRole('button', { name, pressed, exact: true });

  // The choice is "on", but nothing runs.
  await blocked.open(room.guest_link);
  for (const name of ['Microphone', 'Camera'] as const) await state(blocked, name, false).waitFor();
  await state(blocked, 'Camera', false).click();
  await blocked.page.getByText('Your browser blocks the camera.').waitFor();
  await state(blocked, 'Camera', false).waitFor();

  await working.open(room.guest_link);
  for (const name of ['Microphone', 'Camera'] as const) await state(working, name, true).waitFor();
  await state(working, 'Camera', true).click();
  await state(working, 'Camera', false).waitFor();
  // The text is in the middle of what the buttons leave free.
  const [text, preview] = await Promise.all(
    ['Your camera is off', null].map((words) => (words ? working.page.getByText(words) : working.page.locator('.preview')).boundingBox()),
  );
  const middle = (text?.y ?? 0) + (text?.height ?? 0) / 2 - (preview?.y ?? 0);
  expect(middle).toBeGreaterThan((preview?.height ?? 0) * 0.25);
  expect(middle).toBeLessThan((preview?.height ?? 0) * 0.75);
  await state(working, 'Microphone', true).click();
  await working.page.getByText('Your microphone is off').waitFor();
  await working.page.getByLabel('Your name').fill('Ben');
  await working.button('Join').click();
  await working.button('Unmute').first().waitFor();
  await working.button('Start camera').first().waitFor();
  await closeAll([working]);
  await asking.close();
});

test('the camera of a phone held upright is shown as a whole before joining', async () => {
  const room = await server.createMeeting({});
  const person = await Person.arrive(browser, { viewport: phone });
  await drawCamera(person, faces.bela);
  await person.open(room.guest_link);
  const video = person.page.locator('.preview video.uncropped');
  await expect.poll(() => video.evaluate((video) => getComputedStyle(video).objectFit)).toBe('contain');
  await expect
    .poll(() => person.page.locator('.preview video.blurred').evaluate((video: HTMLVideoElement) => video.videoWidth))
    .toBeGreaterThan(0);
  await person.seen('lobby-upright');
  await closeAll([person]);
});

test('devices stay off until 15 minutes before the start, or a press', async () => {
  const room = await server.createMeeting({}, { start: inMinutes(60) });
  const guest = await Person.arrive(browser);
  const { page } = guest;
  await page.clock.install();
  await page.addInitScript(() => {
    const devices = { opened: 0 };
    Object.assign(globalThis, { devices });
    const open = navigator.mediaDevices.getUserMedia.bind(navigator.mediaDevices);
    navigator.mediaDevices.getUserMedia = (wanted) => {
      devices.opened++;
      return open(wanted);
    };
  });
  const opened = (): Promise<number> => page.evaluate(() => (globalThis as unknown as { devices: { opened: number } }).devices.opened);
  await guest.open(room.guest_link);
  await page.getByText('stay off until 15 minutes before the start', { exact: false }).waitFor();
  await page.getByLabel('Your name').fill('Ben');
  await guest.button('Join when it opens').click();
  await guest.button('You’ll join automatically · Cancel').waitFor();
  expect(await opened()).toBe(0);

  await page.clock.fastForward('46:00');
  await page.getByText('Your microphone works.').waitFor();
  await page.reload();
  await page.getByRole('button', { name: 'Microphone', pressed: false }).click();
  await page.getByText('Your microphone works.').waitFor();
  expect(await opened()).toBe(1);
  await guest.close();
});

test('a browser without WebRTC says where to open the link instead', async () => {
  const room = await server.createMeeting({});
  for (const [name, userAgent, words] of [
    ['chrome', undefined, 'open this link in a current version of Chrome'],
    ['firefox', 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0', 'set media.peerconnection.enabled to true'],
    [
      'ios',
      'Mozilla/5.0 (iPhone; CPU iPhone OS 14_2 like Mac OS X) AppleWebKit/605 CriOS/87 Mobile Safari/604',
      'Open this link in Safari.',
    ],
  ] as const) {
    const person = await Person.arrive(browser);
    await person.page.addInitScript((userAgent) => {
      Object.assign(globalThis, { RTCPeerConnection: undefined });
      if (userAgent) Object.defineProperty(navigator, 'userAgent', { get: () => userAgent });
    }, userAgent);
    await person.open(room.guest_link);
    await person.page.getByRole('heading', { name: 'This browser can’t join meetings' }).waitFor();
    await person.page.getByText(words).waitFor();
    await person.seen(`unsupported-${name}`);
    await person.close();
  }
});

test('the link of another room says so, and leads in as a guest', async () => {
  const [room, other] = [await server.createMeeting({}), await server.createMeeting({})];
  const person = await Person.arrive(browser);
  await person.open(room.guest_link + new URL(other.final_link).hash);
  await person.page.getByRole('heading', { name: 'This link isn’t valid for this room' }).waitFor();
  await person.button('Join as a guest').click();
  await person.page.getByText('You’re a guest').waitFor();
  await person.page.getByLabel('Your name').fill('Ben');
  await person.button('Join').click();
  await person.button('Leave').waitFor();
  await closeAll([person]);
});

// Chromium trusts 127.0.0.1 without TLS, but no other name.
test('on a page without TLS the lobby says what to do, and one can join and listen', async () => {
  const named = await launch(['--use-fake-ui-for-media-stream', '--host-resolver-rules=MAP meet.test 127.0.0.1']);
  const room = await server.createMeeting({});
  const host = await Person.arrive(browser);
  await host.join(room.final_link);
  const person = await Person.arrive(named, { viewport: phone, microphone: false });
  await person.open(room.guest_link.replace('127.0.0.1', 'meet.test'));
  await person.page.getByText('Ask for a link that starts with https').waitFor();
  expect(await person.page.getByText('secure pages').count()).toBe(1);
  await person.seen('lobby-insecure');
  await person.page.getByLabel('Your name').fill('Ben');
  await person.button('Join').click();
  await person.untilHeard();
  await person.button('Unmute').click();
  await person.page.locator('.toast', { hasText: 'Ask for a link that starts with https' }).waitFor();
  await person.close();
  await host.close();
  await named.close();
});

test('the browser warns of nothing while somebody joins', async () => {
  const room = await server.createMeeting({});
  const person = await Person.arrive(browser);
  const said: string[] = [];
  person.page.on('console', (message) => message.type() === 'warning' && said.push(message.text()));
  await person.join(room.guest_link, 'Ben');
  expect(said).toEqual([]);
  await person.close();
});

test.each([
  { name: 'light', dark: false, color: 'rgb(10, 107, 61)' },
  { name: 'dark', dark: true, color: null },
])('the pages before and after a room have the brand of the project: $name', async ({ name, dark, color }) => {
  server.set('brand_name=Acme Школа', 'brand_color=#0A6B3D');
  const room = await server.createMeeting({});
  const person = await Person.arrive(browser, { dark });
  await person.open(room.guest_link);
  await person.page.getByText('Acme Школа').waitFor();
  await person.button('Join').waitFor();
  const background = await person.button('Join').evaluate((button) => getComputedStyle(button).backgroundColor);
  if (color !== null) expect(background).toBe(color);
  await person.seen(`brand-${name}-lobby`);
  await person.page.getByLabel('Your name').fill('Ben');
  await person.button('Join').click();
  await person.button('Leave').first().click();
  await person.page.getByText('Acme Школа').waitFor();
  await person.seen(`brand-${name}-left`);
  await person.close();
});

test.each([
  { name: 'light', dark: false },
  { name: 'dark', dark: true },
])('the pages before and after a room show the logo of the project: $name', async ({ name, dark }) => {
  const person = await Person.arrive(browser, { dark, viewport: { width: 320, height: 640 } });
  server.set('brand_name=Acme Школа');
  await person.page.setContent('<body style="margin:0;background:#0a6b3d">');
  server.setLogo(await person.page.screenshot({ clip: { x: 0, y: 0, width: 320, height: 40 } }));
  const room = await server.createMeeting({});
  let load = (): void => {};
  const loading = new Promise<void>((resolve) => {
    load = resolve;
  });
  await person.page.route('**/api/join/logos/*', async (route) => {
    await loading;
    await route.continue();
  });
  await person.page.goto(room.guest_link, { waitUntil: 'commit' });
  const logo = person.page.getByRole('img', { name: 'Acme Школа' });
  await person.button('Join').waitFor();
  const before = [await logo.boundingBox(), await person.button('Join').boundingBox()];
  const answer = person.page.waitForResponse('**/api/join/logos/*');
  load();
  const { 'cache-control': cache, 'content-type': type } = (await answer).headers();
  expect([cache, type]).toEqual(['public, max-age=31536000, immutable', 'image/png']);
  await expect.poll(() => logo.evaluate((image: HTMLImageElement) => image.complete && image.naturalWidth)).toBe(320);
  expect([await logo.boundingBox(), await person.button('Join').boundingBox()]).toEqual(before);
  expect(before[0]?.width).toBeLessThanOrEqual(160);
  expect(await person.page.evaluate(() => document.documentElement.scrollWidth)).toBe(320);
  expect(await person.page.getByText('Acme Школа').count()).toBe(0);
  await person.seen(`logo-${name}-lobby`);

  const html = await (await fetch(room.guest_link)).text();
  expect(html).toContain('<meta property="og:site_name" content="Acme Школа">');
  expect(html).toContain(`<meta property="og:image" content="${await logo.evaluate((image: HTMLImageElement) => image.src)}">`);

  await person.page.getByLabel('Your name').fill('Ben');
  await person.button('Join').click();
  await person.button('Leave').first().click();
  await logo.waitFor();
  await person.seen(`logo-${name}-left`);

  // A logo that does not load is replaced by the name.
  await person.page.unroute('**/api/join/logos/*');
  await person.page.route('**/api/join/logos/*', (route) => route.fulfill({ status: 200, contentType: 'image/png', body: '' }));
  await person.open(room.guest_link);
  await person.page.getByText('Acme Школа').waitFor();
  await person.close();
});
