import type { Locator } from 'playwright-core';
import { expect, test } from 'vitest';
import { desktop, fakeDevices, launch, livelyDevices, Person, phone } from './browser';
import { browser, closeAll, server, setUp } from './fixture';
import { noteConnections, speech, streams } from './media';
import type { Room } from './server';

setUp();

const large = (person: Person): Locator => person.page.locator('.tile[data-large]');
const tile = (person: Person, name: string): Locator => person.page.locator('.tile', { hasText: name });
const stageSwitch = (person: Person, label: string): Locator => person.page.getByRole('switch', { name: label });

async function inMore(person: Person, act: () => Promise<void>): Promise<void> {
  await person.button(/^More/).click();
  await act();
  await person.page.keyboard.press('Escape');
}

/** Joins Amina as the host and guests with the names to a video room. */
async function meet(
  names: string[],
  look: (name: string) => Parameters<typeof Person.arrive>[1] = () => ({}),
  among = browser,
): Promise<{ room: Room; people: Person[] }> {
  const room = await server.createMeeting({});
  const people: Person[] = [];
  for (const name of ['Amina', ...names]) {
    const person = await Person.arrive(among, look(name));
    await person.join(name === 'Amina' ? room.final_link : room.guest_link, name === 'Amina' ? undefined : name);
    people.push(person);
  }
  for (const { page } of people) await expect.poll(() => page.locator('.tile').count()).toBe(people.length);
  return { room, people };
}

test('in speaker view the active speaker is large, a pin has precedence, and the view is remembered', async () => {
  const speaking = await launch([...fakeDevices, `--use-file-for-fake-audio-capture=${speech(server.dataDir)}`]);
  const { people } = await meet(
    ['Ben', 'Chen'],
    (name) => ({ viewport: name === 'Ben' ? phone : desktop, dark: name === 'Chen' }),
    speaking,
  );
  const [amina, ben, chen] = people as [Person, Person, Person];
  expect(await large(amina).count()).toBe(0);
  await chen.button('Mute').click();
  await inMore(amina, async () => {
    await stageSwitch(amina, 'Speaker view').click();
    await amina.seen('stage-more');
  });
  await expect.poll(() => large(amina).innerText()).toContain('Ben');
  await amina.seen('stage-speaker');

  // The large tile follows the active speaker.
  await ben.button('Mute').click();
  await chen.button('Unmute').click();
  await expect.poll(() => large(amina).innerText()).toContain('Chen');
  await chen.page.keyboard.press('g');
  await expect.poll(() => large(chen).innerText()).toContain('Amina');
  await chen.seen('stage-speaker-dark');

  // A tile is pinned by keyboard.
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

  // On a phone, a tile is pinned from the list.
  await inMore(ben, () => stageSwitch(ben, 'Speaker view').click());
  await expect.poll(() => large(ben).count()).toBe(1);
  await ben.seen('stage-phone-speaker');
  await ben.page.setViewportSize({ width: 844, height: 390 });
  await ben.seen('stage-phone-side-speaker');

  await amina.page.reload();
  await amina.button('Rejoin').click();
  await expect.poll(() => large(amina).innerText()).toContain('Chen');
  await amina.page.keyboard.press('g');
  await expect.poll(() => large(amina).count()).toBe(0);
  await closeAll(people);
  await speaking.close();
});

test('a participant can hide their own tile and the tiles without video', async () => {
  const { people } = await meet(['Ben', 'Chen']);
  const [amina, ben, chen] = people as [Person, Person, Person];
  await inMore(amina, () => stageSwitch(amina, 'Hide self view').click());
  expect(await amina.button('Mute').getAttribute('aria-keyshortcuts')).toBe('M');
  await expect.poll(() => amina.page.locator('.tile').count()).toBe(2);
  expect(await tile(amina, 'You').count()).toBe(0);

  // The layout is mirrored from right to left.
  await inMore(ben, async () => void (await ben.page.getByLabel('Language').selectOption('ar')));
  await tile(ben, 'Chen').hover();
  await ben.page.getByRole('button', { name: /Chen/ }).click();
  await expect.poll(() => large(ben).count()).toBe(1);
  await ben.seen('stage-ar-pinned');

  await chen.button('Stop camera').click();
  await inMore(amina, () => stageSwitch(amina, 'Hide people without video').click());
  await expect.poll(() => amina.page.locator('.tile').count()).toBe(1);
  await amina.seen('stage-faces-only');
  await chen.button('Start camera').click();
  await expect.poll(() => amina.page.locator('.tile').count()).toBe(2);
  await chen.button('Stop camera').click();
  await amina.page.reload();
  await amina.button('Rejoin').click();
  await amina.untilHeard();
  await expect.poll(() => amina.page.locator('.tile').allInnerTexts()).toEqual(['Ben']);
  await closeAll(people);
});

test('the volume of each participant can be lowered locally, also after a reconnect and a reload', async () => {
  const { people } = await meet(['Ben'], (name) => ({ viewport: name === 'Ben' ? phone : desktop }));
  const [amina, ben] = people as [Person, Person];
  const volumes = (person: Person): Promise<number[]> =>
    person.page.locator('audio').evaluateAll((all) => all.map((one) => (one as HTMLAudioElement).volume));
  await ben.untilHeard();
  expect(await volumes(ben)).toEqual([1]);
  await ben.button(/^More/).click();
  await ben.button('People (2)').click();
  await ben.button('Options for Amina').click();
  const slider = ben.page.getByRole('slider', { name: 'Volume' });
  await slider.focus();
  for (let i = 0; i < 16; i++) await ben.page.keyboard.press('ArrowLeft');
  await ben.page.locator('.roster-row', { hasText: 'Amina' }).locator('.badge', { hasText: '20%' }).waitFor();
  await ben.seen('stage-phone-volume');
  expect(await volumes(ben)).toEqual([0.2]);
  await ben.page.keyboard.press('Escape');
  await tile(ben, 'Amina').getByText('20%').waitFor();

  // All participants reconnect, and their audio tracks are new.
  await ben.page.locator('audio').evaluateAll((all) => {
    for (const one of all) one.setAttribute('data-before', '');
  });
  await server.down('SIGKILL');
  await server.up();
  await ben.page.locator('audio:not([data-before])').waitFor({ state: 'attached' });
  await ben.untilHeard();
  expect(await volumes(ben)).toEqual([0.2]);
  // Amina may be back later than he is.
  await expect.poll(() => volumes(amina)).toEqual([1]);

  await ben.page.reload();
  await ben.button('Rejoin').click();
  await ben.untilHeard();
  expect(await volumes(ben)).toEqual([0.2]);
  await closeAll(people, /./);
});

test('where a page cannot set a volume, as on an iPhone, the slider turns the sound off and on', async () => {
  const room = await server.createMeeting({});
  const amina = await Person.arrive(browser);
  const ben = await Person.arrive(browser, { viewport: phone });
  await ben.page.addInitScript(() => {
    Object.defineProperty(HTMLMediaElement.prototype, 'volume', { get: () => 1, set: () => undefined });
  });
  await amina.join(room.final_link);
  await ben.join(room.guest_link, 'Ben');
  await ben.untilHeard();
  const muted = (): Promise<boolean[]> => ben.page.locator('audio').evaluateAll((all) => all.map((one) => (one as HTMLAudioElement).muted));
  expect(await muted()).toEqual([false]);
  await ben.button(/^More/).click();
  await ben.button('People (2)').click();
  await ben.button('Options for Amina').click();
  const slider = ben.page.getByRole('slider', { name: 'Volume' });
  await slider.focus();
  await ben.page.keyboard.press('ArrowLeft');
  await ben.page.locator('.roster-row', { hasText: 'Amina' }).locator('.badge', { hasText: '0%' }).waitFor();
  await expect.poll(muted).toEqual([true]);
  await ben.page.keyboard.press('ArrowRight');
  await expect.poll(muted).toEqual([false]);
  expect(await slider.inputValue()).toBe('100');
  await closeAll([amina, ben]);
});

test('a browser that pauses the sound and asks for a press gets one, and the sound is back', async () => {
  const room = await server.createRoom();
  const host = await Person.arrive(browser);
  const ben = await Person.arrive(browser, { viewport: phone });
  // The page behaves as after a phone call on an iPhone: only a press starts the sound again.
  await ben.page.addInitScript(() => {
    const sound = { blocked: false };
    Object.assign(globalThis, { sound });
    const play = HTMLAudioElement.prototype.play;
    HTMLAudioElement.prototype.play = function () {
      return sound.blocked ? Promise.reject(new DOMException('A press is needed', 'NotAllowedError')) : play.call(this);
    };
    addEventListener('click', () => (sound.blocked = false), { capture: true });
  });
  await host.join(room.final_link);
  await ben.join(room.guest_link, 'Ben');
  await ben.untilHeard();
  const paused = (): Promise<number> =>
    ben.page.locator('audio').evaluateAll((all) => all.filter((one) => (one as HTMLAudioElement).paused).length);
  await ben.page.evaluate(() => {
    (globalThis as unknown as { sound: { blocked: boolean } }).sound.blocked = true;
    for (const audio of document.querySelectorAll('audio')) audio.pause();
  });
  const banner = ben.page.locator('.toast', { has: ben.button('Turn on sound') });
  await banner.waitFor();
  expect(await paused()).toBe(1);
  await ben.seen('stage-phone-sound-off');
  await ben.button('Turn on sound').click();
  await banner.waitFor({ state: 'detached' });
  await expect.poll(paused).toBe(0);
  await ben.untilHeard();
  await closeAll([host, ben]);
});

/** Returns the width of the received video of a person, or 0 without video. */
const widthOf = async (person: Person, name: string): Promise<number> => {
  const [width] = await tile(person, name)
    .locator('video')
    .evaluateAll((all) => all.map((one) => (one as HTMLVideoElement).videoWidth));
  return width ?? 0;
};
test('a participant with data saver on receives no cameras and sends a small picture', async () => {
  const room = await server.createMeeting({});
  // The engine sends larger video again as soon as the bandwidth estimate allows it.
  const lively = await launch(livelyDevices);
  const amina = await Person.arrive(lively);
  const ben = await Person.arrive(lively, { viewport: phone });
  await noteConnections(ben);
  await amina.join(room.final_link);
  await ben.join(room.guest_link, 'Ben');
  await Promise.all([amina.untilSeen(), ben.untilSeen()]);
  await expect.poll(() => widthOf(amina, 'Ben')).toBeGreaterThan(320);
  await expect.poll(() => streams(ben)).toBe(1);

  await inMore(ben, async () => {
    await stageSwitch(ben, 'Low-data mode').click();
    await ben.seen('stage-phone-more');
  });
  await ben.page.getByText('Low-data mode is on. Others’ cameras are hidden.').waitFor();
  await expect.poll(() => streams(ben)).toBe(0);
  expect(await widthOf(ben, 'Amina')).toBe(0);
  await expect.poll(() => widthOf(amina, 'Ben')).toBeLessThanOrEqual(320);
  await ben.untilHeard();
  await ben.seen('stage-phone-saving');

  // The setting is stored and applies to participants who join later.
  await ben.page.reload();
  await ben.button('Rejoin').click();
  await ben.page.getByText('Low-data mode is on. Others’ cameras are hidden.').waitFor();
  const chen = await Person.arrive(lively, { dark: true });
  await chen.join(room.guest_link, 'Chen');
  await chen.untilSeen();
  await tile(ben, 'Chen').waitFor();
  await ben.untilHeard();
  expect(await streams(ben)).toBe(0);
  // What is sent until the setting takes effect may arrive larger.
  await expect.poll(() => widthOf(chen, 'Ben')).toBeLessThanOrEqual(320);

  await ben.button('Show cameras').click();
  await ben.untilSeen();
  await expect.poll(() => streams(ben)).toBe(2);
  await expect.poll(() => widthOf(chen, 'Ben')).toBeGreaterThan(320);
  await closeAll([amina, ben, chen]);
  await lively.close();
});

test('a browser that prefers reduced data uses the data saver from the start', async () => {
  const room = await server.createMeeting({});
  const amina = await Person.arrive(browser);
  await amina.page.addInitScript(() => Object.defineProperty(Navigator.prototype, 'connection', { value: { saveData: true } }));
  await amina.join(room.final_link);
  await amina.page.getByText('Low-data mode is on.').waitFor();
  await amina.button('Show cameras').click();
  await amina.page.reload();
  await amina.button('Rejoin').click();
  await tile(amina, 'You').waitFor();
  expect(await amina.page.getByText('Low-data mode is on.').count()).toBe(0);
  await closeAll([amina]);
});

test('videos are received in the size in which they are shown, and hidden ones are not received', async () => {
  const room = await server.createMeeting({});
  const amina = await Person.arrive(browser);
  const ben = await Person.arrive(browser);
  const chen = await Person.arrive(browser);
  await noteConnections(amina);
  await amina.join(room.final_link);
  await ben.join(room.guest_link, 'Ben');
  await chen.join(room.guest_link, 'Chen');
  await tile(amina, 'Chen').hover();
  await amina.button('Pin Chen').click();
  await expect.poll(() => widthOf(amina, 'Chen')).toBeGreaterThan(640);
  await expect.poll(() => widthOf(amina, 'Ben')).toBeLessThanOrEqual(320);
  await expect.poll(() => streams(amina)).toBe(2);

  // The window is too small for three tiles.
  await amina.button('Pin Chen').click();
  await amina.page.setViewportSize({ width: 330, height: 330 });
  await amina.button(/more$/).waitFor();
  const drawn = (): Promise<number> => amina.page.locator('.tiles video:not([data-own])').count();
  await expect.poll(drawn).toBeLessThan(2);
  await expect.poll(async () => (await streams(amina)) - (await drawn())).toBe(0);
  await closeAll([amina, ben, chen]);
});

// Chromium's fake devices cannot blur, so the test replaces the capabilities of the camera.
// The behavior of the page is real.
test('the background is blurred in browsers that support it', async () => {
  const room = await server.createMeeting({});
  const plain = await Person.arrive(browser);
  await plain.open(room.final_link);
  await plain.page.getByText('Your microphone works.').waitFor();
  expect(await stageSwitch(plain, 'Blur background').count()).toBe(0);
  await plain.close();

  const amina = await Person.arrive(browser);
  await amina.page.addInitScript(() => {
    const blurred = new WeakMap<MediaStreamTrack, boolean>();
    const { getCapabilities, getSettings, applyConstraints } = MediaStreamTrack.prototype;
    Object.assign(MediaStreamTrack.prototype, {
      getCapabilities(this: MediaStreamTrack) {
        return { ...getCapabilities.call(this), ...(this.kind === 'video' && { backgroundBlur: [false, true] }) };
      },
      getSettings(this: MediaStreamTrack) {
        return { ...getSettings.call(this), backgroundBlur: blurred.get(this) ?? false };
      },
      async applyConstraints(this: MediaStreamTrack, { backgroundBlur, ...others }: MediaTrackConstraints & { backgroundBlur?: boolean }) {
        if (backgroundBlur !== undefined) blurred.set(this, backgroundBlur);
        await applyConstraints.call(this, others);
      },
    });
  });
  const isBlurred = (): Promise<boolean | undefined> =>
    amina.page.evaluate(() => {
      const stream = document.querySelector('video')?.srcObject;
      const [track] = stream instanceof MediaStream ? stream.getVideoTracks() : [];
      return (track?.getSettings() as { backgroundBlur?: boolean } | undefined)?.backgroundBlur;
    });
  await amina.open(room.final_link);
  await stageSwitch(amina, 'Blur background').click();
  await expect.poll(isBlurred).toBe(true);
  await amina.seen('stage-lobby-blur');
  await amina.page.reload();
  await expect.poll(isBlurred).toBe(true);
  await amina.button('Join').click();
  await amina.button('Video settings').click();
  expect(await stageSwitch(amina, 'Blur background').isChecked()).toBe(true);
  await stageSwitch(amina, 'Blur background').click();
  await expect.poll(isBlurred).toBe(false);
  await closeAll([amina]);
});

test('a screen is shared with its sound, which has a volume of its own', async () => {
  // Chromium's fake screen is the fake camera with the fake microphone's beep.
  const room = await server.createMeeting({});
  const amina = await Person.arrive(browser);
  const ben = await Person.arrive(browser);
  await noteConnections(amina);
  await amina.join(room.final_link);
  await ben.join(room.guest_link, 'Ben');
  await amina.button('Mute').click();
  await ben.untilSilent();
  await amina.button('Share screen').click();
  await expect.poll(() => large(ben).innerText()).toContain('Amina’s screen');
  await expect
    .poll(() =>
      large(ben)
        .locator('video')
        .evaluate((video) => (video as HTMLVideoElement).videoWidth),
    )
    .toBeGreaterThan(0);
  await tile(amina, 'You’re sharing your screen').waitFor();
  await ben.untilHeard();
  await ben.seen('stage-share');
  await amina.seen('stage-share-own');

  // It goes on with another encoding when it is a film.
  await stageSwitch(amina, 'Optimize screen sharing for video').click();
  await expect
    .poll(() =>
      amina.page.evaluate(() => {
        const { connections } = globalThis as unknown as { connections: RTCPeerConnection[] };
        const senders = connections.flatMap((connection) => connection.getSenders());
        const screen = senders.find(({ track }) => track?.contentHint === 'motion');
        return screen?.getParameters().encodings.map(({ maxFramerate }) => maxFramerate);
      }),
    )
    .toContain(30);
  await expect.poll(() => large(ben).innerText()).toContain('Amina’s screen');

  // A pinned person is larger than a shared screen, which stays in the strip.
  await ben.page.getByRole('button', { name: 'Pin Amina', exact: true }).focus();
  await ben.page.keyboard.press('Enter');
  await expect.poll(() => large(ben).innerText()).not.toContain('Amina’s screen');
  await tile(ben, 'Amina’s screen').waitFor();
  await ben.page.getByRole('button', { name: 'Pin Amina', exact: true }).click();

  await ben.button(/^People/).click();
  await ben.button('Options for Amina').click();
  await ben.page.getByRole('slider', { name: 'Screen volume' }).fill('0');
  const volume = (source: string): Promise<number> =>
    ben.page.locator(`audio[data-source=${source}]`).evaluate((audio) => (audio as HTMLAudioElement).volume);
  expect([await volume('screen_share_audio'), await volume('microphone')]).toEqual([0, 1]);
  await ben.seen('stage-share-volume');
  await amina.button('Stop sharing').click();
  await ben.page.locator('audio[data-source=screen_share_audio]').waitFor({ state: 'detached' });
  await closeAll([amina, ben]);
});

test('the device’s screen stays on only while somebody watches', async () => {
  const room = await server.createMeeting({});
  const person = await Person.arrive(browser, { viewport: phone });
  const { page } = person;
  await person.context.grantPermissions(['microphone', 'camera', 'screen-wake-lock']);
  await page.addInitScript(() => {
    const locks: WakeLockSentinel[] = [];
    Object.assign(globalThis, { locks });
    const request = navigator.wakeLock.request.bind(navigator.wakeLock);
    navigator.wakeLock.request = async (type) => {
      const lock = await request(type);
      locks.push(lock);
      return lock;
    };
  });
  const held = () =>
    page.evaluate(() => (globalThis as unknown as { locks: WakeLockSentinel[] }).locks.filter(({ released }) => !released).length);
  await person.open(room.final_link);
  await page.locator('.preview video').waitFor();
  expect(await held()).toBe(0);
  await person.button('Join').click();
  await expect.poll(held).toBe(1);
  // The browser releases the wake lock of a hidden page. The test does that here.
  await page.evaluate(() => Promise.all((globalThis as unknown as { locks: WakeLockSentinel[] }).locks.map((lock) => lock.release())));
  expect(await held()).toBe(0);
  await page.evaluate(() => document.dispatchEvent(new Event('visibilitychange')));
  await expect.poll(held).toBe(1);
  await person.button('Leave').first().click();
  await expect.poll(held).toBe(0);
  await closeAll([person]);
});

test('a click starts the videos that the browser does not start by itself', async () => {
  const room = await server.createMeeting({});
  const host = await Person.arrive(browser);
  await host.join(room.final_link);
  const guest = await Person.arrive(browser, { viewport: phone });
  // The page behaves as on an iPhone in low power mode.
  await guest.page.addInitScript(() => {
    let blocked = true;
    addEventListener('click', ({ target }) => (blocked &&= (target as Element).closest('.lobby') !== null), { capture: true });
    const play = HTMLVideoElement.prototype.play;
    HTMLVideoElement.prototype.play = function () {
      if (!blocked && !('own' in this.dataset)) document.documentElement.dataset.played = 'true';
      return blocked ? Promise.reject(new DOMException('Not yet', 'NotAllowedError')) : play.call(this);
    };
  });
  await guest.join(room.guest_link, 'Ben');
  await guest.page.locator('.tile').nth(1).waitFor();
  expect(await guest.page.locator('html').getAttribute('data-played')).toBeNull();
  await guest.page.locator('h1').click();
  await guest.page.locator('html[data-played]').waitFor({ state: 'attached' });
  await closeAll([host, guest]);
});

test('a separate window shows the active speaker, and has mute and leave', async () => {
  const { people } = await meet(['Ben']);
  const [amina] = people as [Person, Person];
  await amina.button(/^More/).click();
  await amina.button('Picture in picture').click();
  const inside = <T>(read: (inside: Document) => T): Promise<T> =>
    amina.page.evaluate(`(${read.toString()})(documentPictureInPicture.window.document)`) as Promise<T>;
  await expect.poll(() => inside((it) => it.querySelector('.tile')?.textContent)).toContain('Ben');
  await expect.poll(() => inside((it) => it.querySelector('video')?.videoWidth ?? 0)).toBeGreaterThan(0);
  // The window uses the style sheets of the page.
  await expect.poll(() => inside((it) => getComputedStyle(it.querySelector('.controls') ?? it.body).display)).toBe('flex');
  await inside((it) => [...it.querySelectorAll('button')].find(({ textContent }) => textContent === 'Mute')?.click());
  await amina.button('Unmute').waitFor();
  await inside((it) => [...it.querySelectorAll('button')].find(({ textContent }) => textContent === 'Leave')?.click());
  // Amina is the last host, and the page asks.
  await amina.page.getByRole('dialog').getByRole('button', { name: 'Leave', exact: true }).click();
  await amina.page.getByRole('heading', { name: 'You left the room' }).waitFor();
  await expect
    .poll(() => amina.page.evaluate(() => (window as { documentPictureInPicture?: { window: unknown } }).documentPictureInPicture?.window))
    .toBeNull();
  await closeAll(people);
});

test('a browser without support offers no separate window', async () => {
  const { people } = await meet(['Ben']);
  const [amina] = people as [Person, Person];
  await amina.page.addInitScript(() => {
    Object.defineProperty(window, 'documentPictureInPicture', { value: undefined });
  });
  await amina.page.reload();
  await amina.button('Rejoin').click();
  await amina.untilSeen();
  await inMore(amina, async () => {
    // The browser's own window for one video.
    await amina.button('Picture in picture').click();
    await expect.poll(() => amina.page.evaluate(() => document.pictureInPictureElement?.closest('.tile')?.textContent)).toContain('Ben');
    await amina.page.evaluate(() => document.exitPictureInPicture());
  });
  await amina.page.evaluate(() => Object.defineProperty(document, 'pictureInPictureEnabled', { value: false }));
  await inMore(amina, async () => expect(await amina.button('Picture in picture').count()).toBe(0));
  await closeAll(people);
});

// A loopback connection is always good, so the test changes the number before the page gets it.
