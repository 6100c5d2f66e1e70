import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { FakeBrowser, type FakeTrack } from './fakeDevices';
import { LocalMedia } from './localMedia';
import { deviceInUse } from './mediaState';

beforeEach(() => {
  vi.useFakeTimers();
});

afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

const allowed = { mic: true, camera: true };
const settle = (ms = 0): Promise<unknown> => vi.advanceTimersByTimeAsync(ms);

/** A visitor with two microphones, a camera and a speaker, who has joined a video room. */
async function join(): Promise<{ browser: FakeBrowser; media: LocalMedia }> {
  const browser = new FakeBrowser();
  browser.plug('mic', 'built-in');
  browser.plug('mic', 'headset');
  browser.plug('camera', 'webcam');
  browser.plug('speaker', 'loudspeaker');
  const media = new LocalMedia();
  await media.warmUp(true, allowed, true);
  await media.prepare();
  await settle();
  return { browser, media };
}

const micDevice = ({ state }: LocalMedia): string | null => {
  const { mic } = state.get();
  return mic.is === 'live' ? (mic.track as unknown as FakeTrack).device : null;
};

/** Fails if something is captured that the page does not show, or shown that does not run. */
function expectTruth(browser: FakeBrowser, media: LocalMedia): void {
  const state = media.state.get();
  const shown: unknown[] = [];
  for (const kind of ['mic', 'camera'] as const) {
    const capture = state[kind];
    if (capture.is !== 'live') continue;
    shown.push(capture.track);
    expect(capture.track.readyState, kind).toBe('live');
    const inUse = deviceInUse(state, kind);
    if (inUse !== '') expect(inUse, kind).toBe((capture.track as unknown as FakeTrack).device);
  }
  if (state.screen.is === 'live') {
    expect(state.screen.video.readyState, 'screen').toBe('live');
    shown.push(state.screen.video);
  }
  expect(new Set(browser.liveTracks)).toEqual(new Set(shown));
}

test('a microphone that failed is opened again although the clock of the device was set back', async () => {
  const { browser, media } = await join();
  browser.busy = true;
  for (const track of browser.liveTracks) track.end();
  await settle(3_000);
  expect(media.state.get().mic.is).toBe('failed');
  browser.busy = false;
  vi.setSystemTime(Date.now() - 3_600_000);
  await settle(60_000);
  expect(media.state.get().mic.is).toBe('live');
});

describe('a screen', () => {
  test.each<[string, (media: LocalMedia) => void]>([
    ['leaving', (media) => media.close()],
    ['pressing Stop', (media) => media.stopSharing()],
  ])('that is granted after %s is not captured', async (_, withdraw) => {
    const { browser, media } = await join();
    void media.shareScreen();
    withdraw(media);
    browser.answer(true);
    await settle();
    expect(media.state.get().screen.is).toBe('off');
    expectTruth(browser, media);
    await media.prepare();
    expect(media.state.get().screen.is).toBe('off');
  });

  test('whose failure is repeated is shown again', async () => {
    const { browser, media } = await join();
    const shown: string[] = [];
    media.state.subscribe(() => {
      const { is } = media.state.get().screen;
      if (is !== shown.at(-1)) shown.push(is);
    });
    browser.screenBroken = true;
    for (let i = 0; i < 2; i++) await media.shareScreen();
    expect(shown).toEqual(['failed', 'off', 'failed']);
  });

  test('that is granted after a newer request is stopped, and its end does not stop the newer one', async () => {
    const { browser, media } = await join();
    void media.shareScreen();
    void media.shareScreen();
    browser.answer(true);
    await settle();
    expect(media.state.get().screen.is).toBe('off');
    browser.answer(true);
    await settle();
    expect(media.state.get().screen.is).toBe('live');
    expectTruth(browser, media);
    browser.tracks.filter(({ device }) => device === 'screen')[0]?.dispatchEvent(new Event('ended'));
    expect(media.state.get().screen.is).toBe('live');
  });

  test('is shared without the voices of the others, in browsers that can do that', async () => {
    const { browser, media } = await join();
    void media.shareScreen();
    expect(browser.screenConstraints).toEqual({ video: true, audio: true });
    browser.supported = { restrictOwnAudio: true };
    void media.shareScreen();
    expect(browser.screenConstraints).toEqual({ video: true, audio: { restrictOwnAudio: true } });
  });

  test('stays when the visitor cancels choosing another one', async () => {
    const { browser, media } = await join();
    void media.shareScreen();
    browser.answer(true);
    await settle();
    void media.shareScreen();
    browser.answer(false);
    await settle();
    expect(media.state.get().screen.is).toBe('live');
  });
});

test('nothing is requested again for a visitor who left while the prompt was open', async () => {
  const browser = new FakeBrowser();
  browser.plug('mic', 'built-in');
  browser.plug('camera', 'webcam');
  browser.permission = 'prompt';
  browser.busy = true;
  const media = new LocalMedia();
  await media.warmUp(true, allowed, true);
  void media.prepare();
  await settle();
  expect(browser.prompts).toHaveLength(1);
  const before = browser.requests;
  media.close();
  browser.answer(true);
  await settle(10_000);
  expect(browser.requests).toBe(before);
  expect(browser.prompts).toHaveLength(0);
  expectTruth(browser, media);
});

describe('a microphone', () => {
  test('that was chosen is used again when it returns, and shown only while it is used', async () => {
    const { browser, media } = await join();
    await media.selectDevice('mic', 'headset');
    expect([micDevice(media), deviceInUse(media.state.get(), 'mic')]).toEqual(['headset', 'headset']);
    browser.unplug('headset');
    await settle();
    expect([micDevice(media), deviceInUse(media.state.get(), 'mic')]).toEqual(['built-in', '']);
    browser.plug('mic', 'headset');
    await settle();
    expect([micDevice(media), deviceInUse(media.state.get(), 'mic')]).toEqual(['headset', 'headset']);
  });

  test('that was chosen but cannot be opened is not shown as used, and can be chosen again', async () => {
    const { browser, media } = await join();
    browser.broken.add('headset');
    await media.selectDevice('mic', 'headset');
    const requests = browser.micRequests.length;
    await settle(60_000);
    expect([micDevice(media), deviceInUse(media.state.get(), 'mic')]).toEqual(['built-in', '']);
    expect(browser.micRequests.length).toBe(requests);
    browser.broken.clear();
    await media.selectDevice('mic', 'headset');
    expect([micDevice(media), deviceInUse(media.state.get(), 'mic')]).toEqual(['headset', 'headset']);
  });

  test('is not opened when the visitor leaves before the browser has told the permission', async () => {
    const browser = new FakeBrowser();
    browser.plug('mic', 'built-in');
    const media = new LocalMedia();
    void media.warmUp(false, allowed, true);
    media.close();
    await settle(60_000);
    expect(browser.tracks).toEqual([]);
  });

  test('that another app uses is opened again after the call, without an event', async () => {
    const { browser, media } = await join();
    await settle(20_000);
    browser.busy = true;
    const before = browser.micRequests.length;
    browser.tracks.find(({ kind }) => kind === 'audio')?.end();
    await settle(10_000);
    expect(media.state.get().mic).toEqual({ is: 'failed', fault: 'busy' });
    expect(browser.micRequests.length - before).toBeLessThanOrEqual(5);
    await settle(600_000);
    browser.busy = false;
    await settle(30_000);
    expect(micDevice(media)).toBe('built-in');
  });

  test('that ends at once is opened at most five times in ten seconds', async () => {
    const { browser, media } = await join();
    await settle(20_000);
    browser.dying = true;
    const before = browser.micRequests.length;
    browser.tracks.find(({ kind }) => kind === 'audio')?.end();
    await settle(10_000);
    expect(browser.micRequests.length - before).toBeLessThanOrEqual(5);
    expect(media.state.get().mic).toEqual({ is: 'failed', fault: 'unknown' });
    browser.dying = false;
    await settle(30_000);
    expect(micDevice(media)).toBe('built-in');
  });

  test('that ends without an event is not shown as live', async () => {
    const { browser, media } = await join();
    await settle(20_000);
    browser.busy = true;
    browser.tracks.find(({ kind }) => kind === 'audio')?.stop();
    await settle(2_000);
    expect(media.state.get().mic.is).toBe('failed');
  });

  test('that has ended when it is granted is not shown as live', async () => {
    const { browser, media } = await join();
    const getUserMedia = navigator.mediaDevices.getUserMedia.bind(navigator.mediaDevices);
    navigator.mediaDevices.getUserMedia = async (constraints) => {
      const stream = await getUserMedia(constraints);
      for (const track of stream.getTracks()) track.stop();
      return stream;
    };
    await media.retry('mic');
    expect(media.state.get().mic).toEqual({ is: 'failed', fault: 'unknown' });
    expectTruth(browser, media);
  });

  test('that the system interrupts is opened again while the page is visible', async () => {
    const { browser, media } = await join();
    const [first] = browser.tracks;
    first?.setMuted(true);
    await settle(30_000);
    expect(micDevice(media)).toBe('built-in');
    expect(browser.tracks.filter(({ kind }) => kind === 'audio').length).toBe(2);
    expectTruth(browser, media);
  });

  test('that is granted after leaving is not captured', async () => {
    const browser = new FakeBrowser();
    browser.plug('mic', 'built-in');
    browser.permission = 'prompt';
    const media = new LocalMedia();
    await media.warmUp(false, allowed, true);
    void media.requestDevices();
    await settle();
    media.close();
    browser.answer(true);
    await settle(60_000);
    expect(browser.liveTracks).toEqual([]);
    expect(media.state.get().mic.is).toBe('off');
  });

  test('is not asked for again when the visitor has not allowed it', async () => {
    const browser = new FakeBrowser();
    browser.plug('mic', 'built-in');
    browser.permission = 'prompt';
    const media = new LocalMedia();
    await media.warmUp(false, allowed, true);
    void media.requestDevices();
    await settle();
    browser.answer(false);
    await settle(120_000);
    browser.setHidden(true);
    browser.setHidden(false);
    await settle(120_000);
    expect([media.state.get().mic, browser.prompts]).toEqual([{ is: 'failed', fault: 'dismissed' }, []]);
    browser.setPermission('granted');
    await settle();
    expect(micDevice(media)).toBe('built-in');
  });
});

/** A small generator of random numbers, so that a failure can be repeated (https://en.wikipedia.org/wiki/Linear_congruential_generator). */
function randomFrom(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

const microphones = ['built-in', 'headset', 'usb'];

/** Everything that can happen to the devices, by the visitor, the computer and the browser. */
const happenings: Record<string, (browser: FakeBrowser, media: LocalMedia, random: (below: number) => number) => void> = {
  plug: (browser, _, random) => browser.plug('mic', microphones[random(3)] ?? ''),
  unplug: (browser, _, random) => browser.unplug(microphones[random(3)] ?? ''),
  'plug the camera': (browser) => browser.plug('camera', 'webcam'),
  'unplug the camera': (browser) => browser.unplug('webcam'),
  'interrupt a track': (browser, _, random) => browser.liveTracks[random(3)]?.setMuted(true),
  'continue a track': (browser, _, random) => browser.liveTracks[random(3)]?.setMuted(false),
  'end a track': (browser, _, random) => browser.liveTracks[random(3)]?.end(),
  'use the devices in another app': (browser) => {
    browser.busy = true;
  },
  'end the other app': (browser) => {
    browser.busy = false;
  },
  'reset the permission': (browser) => browser.setPermission('prompt'),
  grant: (browser) => browser.answer(true),
  deny: (browser) => browser.answer(false),
  hide: (browser) => browser.setHidden(true),
  show: (browser) => browser.setHidden(false),
  mute: (_, media) => void media.setMicOn(false),
  unmute: (_, media) => void media.setMicOn(true),
  'choose a microphone': (_, media, random) => void media.selectDevice('mic', microphones[random(3)] ?? ''),
  'turn off the camera': (_, media) => void media.setCameraOn(false),
  'turn on the camera': (_, media) => void media.setCameraOn(true),
  'share the screen': (_, media) => void media.shareScreen(),
  'stop sharing': (_, media) => media.stopSharing(),
  'try again': (_, media) => void media.retry('mic'),
};

test.each(Array.from({ length: 60 }, (_, i) => i + 1))('what is shown is what is captured, whatever happens (seed %i)', async (seed) => {
  const { browser, media } = await join();
  const random = randomFrom(seed);
  const names = Object.keys(happenings);
  const history: string[] = [];
  let left = false;
  for (let step = 0; step < 120; step++) {
    const name = names[random(names.length)] ?? '';
    const before = browser.micRequests.length;
    if (random(20) === 0) {
      history.push(left ? 'rejoin' : 'leave');
      if (left) void media.prepare();
      else media.close();
      left = !left;
    } else if (!left || /plug|grant|deny|hide|show|app|track|permission/.test(name)) {
      history.push(name);
      happenings[name]?.(browser, media, random);
    }
    await settle(random(3) === 0 ? random(4_000) : 0);
    try {
      if (left) expect(browser.liveTracks).toEqual([]);
      expectTruth(browser, media);
      expect(browser.micRequests.length - before, 'requests in one step').toBeLessThanOrEqual(12);
    } catch (error) {
      throw new Error(`seed ${seed}, after: ${history.slice(-15).join(', ')}`, { cause: error });
    }
  }

  // When nothing happens any more and everything works, the microphone runs again.
  browser.busy = false;
  browser.setPermission('granted');
  if (left) void media.prepare();
  while (browser.prompts.length > 0) browser.answer(true);
  await settle();
  browser.setHidden(false);
  browser.plug('mic', 'usb');
  for (const track of browser.liveTracks) track.setMuted(false);
  await settle(60_000);
  void media.setMicOn(true);
  await settle(60_000);
  expectTruth(browser, media);
  const { selectedDevices } = media.state.get();
  const wanted = selectedDevices.mic;
  const connected = browser.connected.filter(({ kind }) => kind === 'mic').map(({ id }) => id);
  expect(micDevice(media), history.slice(-20).join(', ')).toBe(connected.includes(wanted) ? wanted : connected[0]);
});
