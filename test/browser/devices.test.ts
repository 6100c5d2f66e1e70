import { expect, test } from 'vitest';
import { Person, phone } from './browser';
import { browser, closeAll, server, setUp } from './fixture';

// Chromium has two fake cameras, and always two microphones and two speakers besides the default ones.
setUp({ flags: ['--demo'], media: ['--use-fake-device-for-media-stream=device-count=2,fps=10', '--use-fake-ui-for-media-stream'] });

type Kind = 'Microphone' | 'Camera' | 'Speaker';

/** Creates a person whose page records the devices that it opened last, and cannot open the busy ones. */
async function arrive(busy: { usualCamera?: boolean } = {}): Promise<Person> {
  const person = await Person.arrive(browser);
  await person.page.addInitScript(({ usualCamera }) => {
    // Fake cameras have no direction, so the second one is reported as the rear camera of a phone.
    const settings = MediaStreamTrack.prototype.getSettings;
    MediaStreamTrack.prototype.getSettings = function () {
      return { ...settings.call(this), ...(this.label === 'fake_device_1' && { facingMode: 'environment' }) };
    };
    const ask = navigator.mediaDevices.getUserMedia.bind(navigator.mediaDevices);
    navigator.mediaDevices.getUserMedia = async (wanted) => {
      const video = wanted?.video;
      if (usualCamera && typeof video === 'object' && !video.deviceId)
        throw new DOMException('Could not start video source', 'NotReadableError');
      const stream = await ask(wanted);
      for (const track of stream.getTracks()) document.documentElement.dataset[track.kind] = track.label;
      const [mic] = stream.getAudioTracks();
      if (mic) {
        document.documentElement.dataset.quiet = String(mic.getSettings().noiseSuppression);
        Object.assign(globalThis, { mic });
      }
      return stream;
    };
  }, busy);
  return person;
}

const opened = (person: Person, kind: 'audio' | 'video' | 'quiet'): Promise<string | null> =>
  person.page.locator('html').getAttribute(`data-${kind}`);
const list = (person: Person, kind: Kind) => person.page.getByRole('combobox', { name: kind, exact: true });
const chosen = (person: Person, kind: Kind): Promise<string | undefined> =>
  list(person, kind).evaluate((select: HTMLSelectElement) => select.selectedOptions[0]?.label);

/** Returns the names of the speakers that play the others. */
const heardOn = (person: Person): Promise<string[]> =>
  person.page.evaluate(async () => {
    const devices = await navigator.mediaDevices.enumerateDevices();
    return [...document.querySelectorAll('audio')].map(
      ({ sinkId }) => devices.find(({ deviceId, kind }) => kind === 'audiooutput' && deviceId === (sinkId || 'default'))?.label ?? '',
    );
  });

async function devicesWork(person: Person): Promise<void> {
  await person.page.getByText('Your microphone works.').first().waitFor();
  await person.page.locator('.preview video').waitFor();
}

test('the chosen devices are used on the next visit, and the default device when a chosen one is gone', async () => {
  const links = server.demo('video');
  const person = await arrive();
  const { page } = person;
  await person.open(links.guest);
  await devicesWork(person);
  expect(await opened(person, 'audio')).toBe('Fake Default Audio Input');
  expect(await opened(person, 'video')).toBe('fake_device_0');
  expect(await page.locator('.preview video.mirrored').count()).toBe(1);
  await list(person, 'Microphone').selectOption({ label: 'Fake Audio Input 2' });
  await expect.poll(() => opened(person, 'audio')).toBe('Fake Audio Input 2');
  await list(person, 'Camera').selectOption({ label: 'fake_device_1' });
  await expect.poll(() => opened(person, 'video')).toBe('fake_device_1');
  await page.locator('.preview video:not(.mirrored)').waitFor();
  // The speaker can be changed next to its test.
  await person.button('Check connection and devices').click();
  await page.getByRole('dialog').getByRole('combobox', { name: 'Speaker' }).selectOption({ label: 'Fake Audio Output 2' });
  await person.seen('desktop-light-check-devices');
  await person.button('Close').click();

  const other = await Person.arrive(browser, { viewport: phone });
  await other.join(links.guest, 'Ben');
  await page.reload();
  await devicesWork(person);
  expect([await opened(person, 'audio'), await opened(person, 'video')]).toEqual(['Fake Audio Input 2', 'fake_device_1']);
  expect([await chosen(person, 'Microphone'), await chosen(person, 'Camera')]).toEqual(['Fake Audio Input 2', 'fake_device_1']);
  await page.getByLabel('Your name').fill('Amina');
  await person.button('Join').click();
  await person.untilHeard();
  expect(await heardOn(person)).toEqual(['Fake Audio Output 2']);
  await other.untilHeard();

  await page.evaluate(() => {
    for (const kind of ['mic', 'camera', 'speaker']) localStorage.setItem(`parley.device.${kind}`, 'unplugged');
  });
  await page.reload();
  await devicesWork(person);
  expect([await opened(person, 'audio'), await opened(person, 'video')]).toEqual(['Fake Default Audio Input', 'fake_device_0']);
  await person.button('Rejoin').click();
  await person.untilHeard();
  expect(await heardOn(person)).toEqual(['Fake Default Audio Output']);
  await closeAll([person, other], /Failed to set sink id/); // LiveKit's, of the speaker that is gone
});

test('the keyboard focus stays on the chosen device, and another device replaces a busy one', async () => {
  const room = await server.createMeeting({});
  const person = await arrive({ usualCamera: true });
  const { page } = person;
  await person.open(room.guest_link);
  await page.getByText('Your microphone works.').waitFor();
  await list(person, 'Microphone').focus();
  for (const label of ['Fake Audio Input 1', 'Fake Audio Input 2']) {
    await page.keyboard.press('ArrowDown');
    await expect.poll(() => opened(person, 'audio')).toBe(label);
    await page.getByText('Your microphone works.').waitFor();
  }
  expect(await list(person, 'Microphone').evaluate((select) => select === document.activeElement)).toBe(true);

  await page.getByText('Another app is using the camera.').waitFor();
  await person.seen('desktop-light-camera-busy');
  await list(person, 'Camera').selectOption({ label: 'fake_device_1' });
  await page.locator('.preview video').waitFor();
  expect(await opened(person, 'video')).toBe('fake_device_1');
  await closeAll([person]);
});

test('noise suppression is on until a visitor turns it off, and stays off on the next visit', async () => {
  const room = await server.createMeeting({});
  const other = await Person.arrive(browser, { viewport: phone });
  await other.join(room.guest_link, 'Ben');
  const person = await arrive();
  const noise = person.page.getByRole('dialog').getByRole('switch', { name: 'Suppress background noise' });
  const quiet = () => opened(person, 'quiet');
  await person.open(room.final_link);
  await devicesWork(person);
  expect(await quiet()).toBe('true');
  await person.button('Check connection and devices').click();
  await noise.click();
  await expect.poll(quiet).toBe('false');
  await person.seen('desktop-light-check-noise');
  await person.page.reload();
  await devicesWork(person);
  expect(await quiet()).toBe('false');

  await person.button('Join').click();
  await other.untilHeard();
  await person.button('Audio settings').click();
  expect(await noise.isChecked()).toBe(false);
  await noise.click();
  await expect.poll(quiet).toBe('true');
  await person.page.keyboard.press('Escape');
  await other.untilHeard();
  await closeAll([person, other]);
});

// A fake microphone receives no phone calls, so the test sends the events of the browser.
test('a visitor whose phone mutes the microphone sees a notice, and can be heard afterwards', async () => {
  const room = await server.createMeeting({});
  const other = await Person.arrive(browser, { viewport: phone });
  await other.join(room.guest_link, 'Ben');
  const person = await arrive();
  const { page } = person;
  const says = (muted: boolean): Promise<void> =>
    page.evaluate((muted) => {
      const { mic } = globalThis as unknown as { mic: MediaStreamTrack };
      Object.defineProperty(mic, 'muted', { value: muted, configurable: true });
      mic.dispatchEvent(new Event(muted ? 'mute' : 'unmute'));
    }, muted);
  const comeBack = (): Promise<unknown> => page.evaluate(() => document.dispatchEvent(new Event('visibilitychange')));
  const notice = page.getByText('Nobody can hear you because your device muted the microphone.', { exact: false });
  await person.open(room.final_link);
  await devicesWork(person);
  await says(true);
  await notice.waitFor();
  await says(false);
  await notice.waitFor({ state: 'detached' });
  await devicesWork(person);

  await person.button('Join').click();
  await person.untilHeard();
  await says(true);
  await notice.waitFor();
  await person.seen('desktop-light-silenced');
  await person.button('Try again').click();
  await notice.waitFor({ state: 'detached' });
  await other.untilHeard();

  // The call has ended, and no device is turned on automatically.
  await says(true);
  await page.evaluate(() => document.querySelectorAll('audio').forEach((element) => void element.pause()));
  await notice.waitFor();
  await comeBack();
  await notice.waitFor({ state: 'detached' });
  expect(await page.evaluate(() => [...document.querySelectorAll('audio')].filter(({ paused }) => paused).length)).toBe(0);
  await Promise.all([person.untilHeard(), other.untilHeard()]);
  await closeAll([person, other]);
});

test('a microphone that delivers no sound at all is reported', async () => {
  const links = server.demo('video');
  const person = await Person.arrive(browser);
  await person.page.addInitScript(() => {
    const getUserMedia = navigator.mediaDevices.getUserMedia.bind(navigator.mediaDevices);
    navigator.mediaDevices.getUserMedia = async (constraints) => {
      const stream = await getUserMedia(constraints);
      if (!constraints?.audio) return stream;
      const silence = new AudioContext().createMediaStreamDestination().stream;
      return new MediaStream([...silence.getAudioTracks(), ...stream.getVideoTracks()]);
    };
  });
  await person.join(links.guest, 'Ben');
  await person.page.getByText('Your microphone is silent.').first().waitFor();
  await person.seen('desktop-light-silent-microphone');
  await closeAll([person]);
});
