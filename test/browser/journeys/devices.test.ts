import { expect, test } from 'vitest';
import { Person } from '../browser';
import { browser, closeAll, server, setUp } from '../fixture';

// Chromium always has two microphones and two speakers besides the default ones.
setUp({ media: ['--use-fake-device-for-media-stream=device-count=1,fps=5', '--use-fake-ui-for-media-stream'] });

/** What the page of `arrive` can be told to do. */
interface Hardware {
  /** The labels of the devices that are unplugged. */
  unplugged: Set<string>;
  /** Another app uses the microphone. */
  busy: boolean;
  mic?: MediaStreamTrack;
  /** Answers the screen picker. */
  grantScreen?: () => void;
  screens: MediaStreamTrack[];
}

/** Opens a page whose devices can be unplugged, and whose screen picker waits for an answer. */
async function arrive(): Promise<Person> {
  const person = await Person.arrive(browser, { smallCamera: true });
  await person.page.addInitScript(() => {
    const { mediaDevices } = navigator;
    const hardware: Hardware = { unplugged: new Set(), busy: false, screens: [] };
    Object.assign(globalThis, { hardware });
    const enumerateDevices = mediaDevices.enumerateDevices.bind(mediaDevices);
    mediaDevices.enumerateDevices = async () => (await enumerateDevices()).filter(({ label }) => !hardware.unplugged.has(label));
    const isUnplugged = async (id: string): Promise<boolean> => {
      const device = (await enumerateDevices()).find(({ deviceId }) => deviceId === id);
      return device !== undefined && hardware.unplugged.has(device.label);
    };
    const getUserMedia = mediaDevices.getUserMedia.bind(mediaDevices);
    mediaDevices.getUserMedia = async (constraints) => {
      const audio = constraints?.audio;
      if (audio && hardware.busy) throw new DOMException('Could not start audio source', 'NotReadableError');
      const id = typeof audio === 'object' ? (audio.deviceId as { exact?: string } | undefined)?.exact : undefined;
      if (id && (await isUnplugged(id))) throw new OverconstrainedError('deviceId', 'unplugged');
      const stream = await getUserMedia(constraints);
      hardware.mic = stream.getAudioTracks()[0] ?? hardware.mic;
      return stream;
    };
    const { setSinkId } = HTMLMediaElement.prototype;
    HTMLMediaElement.prototype.setSinkId = async function (id) {
      if (await isUnplugged(id)) throw new DOMException('unplugged', 'NotFoundError');
      return setSinkId.call(this, id);
    };
    mediaDevices.getDisplayMedia = () =>
      new Promise((resolve) => {
        hardware.grantScreen = () => {
          const canvas = document.createElement('canvas');
          canvas.getContext('2d')?.fillRect(0, 0, 10, 10);
          const stream = canvas.captureStream(1);
          hardware.screens.push(...stream.getTracks());
          resolve(stream);
        };
      });
  });
  return person;
}

/** Calls a function with the hardware of the page. */
const withHardware = <T>(person: Person, change: (hardware: Hardware) => T): Promise<T> =>
  person.page.evaluate(`(${change.toString()})(globalThis.hardware)`) as Promise<T>;

/** Returns the devices that the menu shows as used. */
const checked = (person: Person): Promise<string[]> =>
  person.page.locator('.device-option', { has: person.page.locator('input:checked') }).allInnerTexts();

/** Returns the devices that are used: the microphone, and the speaker of the others. */
const used = (person: Person): Promise<(string | undefined)[]> =>
  person.page.evaluate(async () => {
    const { hardware } = globalThis as unknown as { hardware: Hardware };
    const devices = await navigator.mediaDevices.enumerateDevices();
    const [audio] = document.querySelectorAll('audio');
    const speaker = devices.find(({ deviceId, kind }) => kind === 'audiooutput' && deviceId === (audio?.sinkId || 'default'));
    return [hardware.mic?.readyState === 'live' ? hardware.mic.label : undefined, speaker?.label];
  });

test('a headset that is unplugged and plugged in again is used again, as the menu shows', async () => {
  const room = await server.createRoom();
  const host = await arrive();
  const guest = await Person.arrive(browser);
  await host.join(room.final_link);
  await guest.join(room.guest_link, 'Ben');
  await Promise.all([host.untilHeard(), guest.untilHeard()]);
  await host.button('Audio settings').click();
  await host.page.getByRole('radio', { name: 'Fake Audio Input 2' }).click();
  await host.page.getByRole('radio', { name: 'Fake Audio Output 2' }).click();
  const headset = ['Fake Audio Input 2', 'Fake Audio Output 2'];
  await expect.poll(() => used(host)).toEqual(headset);
  await expect.poll(() => checked(host)).toEqual(headset);

  await withHardware(host, ({ unplugged, mic }) => {
    unplugged.add('Fake Audio Input 2').add('Fake Audio Output 2');
    mic?.stop();
    mic?.dispatchEvent(new Event('ended'));
    navigator.mediaDevices.dispatchEvent(new Event('devicechange'));
  });
  await expect.poll(() => used(host)).toEqual(['Fake Default Audio Input', 'Fake Default Audio Output']);
  await expect.poll(() => checked(host)).toEqual([expect.stringContaining('System default'), expect.stringContaining('System default')]);
  await guest.untilHeard();

  await withHardware(host, ({ unplugged }) => {
    unplugged.clear();
    navigator.mediaDevices.dispatchEvent(new Event('devicechange'));
  });
  await expect.poll(() => used(host)).toEqual(headset);
  await expect.poll(() => checked(host)).toEqual(headset);
  await guest.untilHeard();

  // Another app takes the microphone, for example for a call, and returns it.
  await withHardware(host, (hardware) => {
    hardware.busy = true;
    hardware.mic?.stop();
    hardware.mic?.dispatchEvent(new Event('ended'));
  });
  await host.page.getByText('Another app is using the microphone').first().waitFor();
  await host.button('Unmute').waitFor();
  await withHardware(host, (hardware) => {
    hardware.busy = false;
  });
  await host.button('Mute').waitFor();
  await guest.untilHeard();

  // The system pauses the sound, for example when headphones are unplugged.
  await host.page.evaluate(() => {
    for (const audio of document.querySelectorAll('audio')) audio.pause();
  });
  await expect.poll(() => host.page.evaluate(() => [...document.querySelectorAll('audio')].some(({ paused }) => paused))).toBe(false);
  await closeAll([host, guest]);
});

test('the space bar speaks after a click on a control, and a screen is shared only while the visitor is in the room', async () => {
  const room = await server.createMeeting({});
  const host = await Person.arrive(browser, { smallCamera: true });
  const guest = await arrive();
  await host.join(room.final_link);
  await guest.join(room.guest_link, 'Ben');
  await host.untilHeard();

  await guest.button('Mute').click();
  await guest.button('Unmute').waitFor();
  await guest.button('Raise hand').click();
  await guest.button('Lower hand').waitFor();
  for (let times = 0; times < 2; times++) {
    await guest.page.keyboard.down('Space');
    await guest.button('Mute').waitFor();
    await guest.page.keyboard.up('Space');
    await guest.button('Unmute').waitFor();
  }
  await host.untilSilent();
  await guest.button('Lower hand').waitFor();

  // The picker is still open when the guest leaves.
  await guest.button('Share screen').click();
  await guest.button('Leave').first().click();
  await guest.button('Rejoin').waitFor();
  await withHardware(guest, ({ grantScreen }) => grantScreen?.());
  await expect.poll(() => withHardware(guest, ({ screens }) => screens.map(({ readyState }) => readyState))).toEqual(['ended']);
  await guest.button('Rejoin').click();
  await guest.button('Share screen').waitFor();
  await guest.button('Unmute').click();
  await host.untilHeard();
  expect(await host.page.getByText('Ben’s screen').count()).toBe(0);

  // The own picture and those of the others play on when the system has paused them.
  await guest.page.evaluate(() => {
    for (const video of document.querySelectorAll('video')) video.pause();
  });
  await expect.poll(() => guest.page.evaluate(() => [...document.querySelectorAll('video')].filter(({ paused }) => paused).length)).toBe(0);
  await closeAll([host, guest]);
});
