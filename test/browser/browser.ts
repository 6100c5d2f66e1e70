import { mkdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join, resolve } from 'node:path';
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core';
import { expect } from 'vitest';
import { useOnly, type Way } from './ways';

const axeSource = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
export const chromiumPath = process.env.CHROMIUM ?? '/usr/bin/chromium';
export const artefacts = resolve(import.meta.dirname, '../artefacts');

/** A sound level between silence and a beep. */
export const audible = 0.01;

/** How long a test waits for anything, in milliseconds. `make bench` measures what must be quick. */
export const waitLimit = 60_000;

export const phone = { width: 390, height: 844 };
export const desktop = { width: 1280, height: 800 };

/** The camera has a low frame rate, because the test machine encodes and draws the cameras of several people. */
export const fakeDevices = ['--use-fake-device-for-media-stream=fps=10', '--use-fake-ui-for-media-stream'];

/** The camera has the default frame rate of Chromium, for tests that depend on the bitrate. */
export const livelyDevices = ['--use-fake-device-for-media-stream=fps=20', '--use-fake-ui-for-media-stream'];

/**
 * Starts Chromium with a microphone that beeps once a second and a camera with a clock, and
 * grants access to both. Other media flags remove the devices or make Chromium ask.
 */
export function launch(media: string[] = fakeDevices, executablePath = chromiumPath): Promise<Browser> {
  return chromium.launch({
    executablePath,
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
      ...media,
    ],
  });
}

/** Returns the process that carries the network of a browser in which a page is open. */
export async function networkProcess(browser: Browser): Promise<number> {
  const session = await browser.newBrowserCDPSession();
  const { processInfo } = await session.send('SystemInfo.getProcessInfo');
  await session.detach();
  const found = processInfo.find(({ type }) => type === 'network.mojom.NetworkService');
  if (found === undefined) throw new Error('the browser has no process for its network');
  return found.id;
}

/** The options of a browser profile: its display and its permissions. */
export interface Look {
  viewport?: { width: number; height: number };
  dark?: boolean;
  reducedMotion?: boolean;
  touch?: boolean;
  microphone?: boolean;
  timeZone?: string;
  locale?: string;
  /** The camera records 320 × 180 pixels, which costs the test machine a fraction. */
  smallCamera?: boolean;
}

/** Makes each video track that a page opens small, whatever it asks for. Runs in the page. */
function useSmallCamera(): void {
  const { mediaDevices } = navigator;
  const getUserMedia = mediaDevices.getUserMedia.bind(mediaDevices);
  mediaDevices.getUserMedia = (constraints) => {
    if (!constraints?.video) return getUserMedia(constraints);
    const asked = constraints.video === true ? {} : constraints.video;
    return getUserMedia({ ...constraints, video: { ...asked, width: 320, height: 180 } });
  };
}

/** A person: a separate browser profile with one page. */
export class Person {
  /** The people whose browser is open. */
  static readonly present = new Set<Person>();
  /** Everybody who has arrived. A test that checks them all takes them out. */
  static readonly arrived: Person[] = [];

  readonly requests: string[] = [];
  /** Errors in the console. */
  readonly complaints: string[] = [];
  readonly warnings: string[] = [];

  private constructor(
    readonly context: BrowserContext,
    readonly page: Page,
  ) {
    Person.present.add(this);
    Person.arrived.push(this);
    page.on('request', (r) => this.requests.push(r.url()));
    page.on('console', (m) => {
      if (m.type() === 'error') this.complaints.push(m.text());
      if (m.type() === 'warning') this.warnings.push(m.text());
    });
    page.on('pageerror', (e) => this.complaints.push(String(e)));
  }

  static async arrive(browser: Browser, options: Look = {}): Promise<Person> {
    const context = await browser.newContext({
      viewport: options.viewport ?? desktop,
      colorScheme: options.dark ? 'dark' : 'light',
      ...(options.reducedMotion && { reducedMotion: 'reduce' }),
      ...(options.touch && { hasTouch: true, isMobile: true }),
      ...(options.locale && { locale: options.locale }),
      ...(options.timeZone && { timezoneId: options.timeZone }),
    });
    if (options.microphone !== false) await context.grantPermissions(['microphone', 'camera']);
    if (options.smallCamera) await context.addInitScript(useSmallCamera);
    context.setDefaultTimeout(waitLimit);
    return new Person(context, await context.newPage());
  }

  /** Opens another tab of the same browser. */
  async tab(): Promise<Person> {
    return new Person(this.context, await this.context.newPage());
  }

  /** Opens a link and waits for the first view. */
  async open(link: string): Promise<void> {
    await this.page.goto(link);
  }

  button(name: string | RegExp) {
    return this.page.getByRole('button', { name, exact: typeof name === 'string' });
  }

  /** Opens a link, enters a name unless the field has one, and joins. */
  async join(link: string, name?: string): Promise<void> {
    await this.open(link);
    if (name !== undefined) await this.page.getByLabel('Your name').fill(name);
    await this.button('Join').click();
    await this.button('Leave').first().waitFor();
  }

  /** Leaves the room, without ending it for the others. */
  async leave(): Promise<void> {
    await this.button('Leave').first().click();
    const choice = this.page.getByRole('dialog').getByRole('button', { name: 'Leave', exact: true });
    const left = this.page.getByRole('heading', { name: 'You left the room' });
    await choice.or(left).first().waitFor();
    if (await choice.isVisible()) await choice.click();
    await left.waitFor();
  }

  /** Opens the tab of the room in the side panel. */
  async openRoomTab(): Promise<void> {
    const tab = this.page.getByRole('tab', { name: 'Room' });
    if (await tab.isVisible()) return tab.click();
    await this.button(/^More/).click();
    await this.button('Room details').click();
  }

  /**
   * Returns the level of the loudest other person, from 0 to 1. WebAudio measures the remote
   * tracks for two seconds, because the fake microphone beeps once a second. The measurement
   * stops early at a sufficient level.
   */
  async hears(enough = 1): Promise<number> {
    return this.page.evaluate(async (enough) => {
      const loudest = { value: 0 };
      const context = new AudioContext();
      await context.resume();
      const meters = new Map<MediaStream, AnalyserNode>();
      const end = performance.now() + 2000;
      const samples = new Float32Array(2048);
      while (performance.now() < end && loudest.value < enough) {
        // Includes tracks that are added during the measurement.
        for (const { srcObject: stream } of document.querySelectorAll('audio')) {
          if (!(stream instanceof MediaStream) || stream.getAudioTracks().length === 0 || meters.has(stream)) continue;
          const meter = context.createAnalyser();
          context.createMediaStreamSource(stream).connect(meter);
          meters.set(stream, meter);
        }
        for (const meter of meters.values()) {
          meter.getFloatTimeDomainData(samples);
          loudest.value = Math.max(loudest.value, Math.sqrt(samples.reduce((sum, s) => sum + s * s, 0) / samples.length));
        }
        await new Promise((done) => setTimeout(done, 20));
      }
      await context.close();
      return loudest.value;
    }, enough);
  }

  /** Waits until the other person is heard, and returns the time in milliseconds. */
  async untilHeard(within = waitLimit): Promise<number> {
    const start = Date.now();
    while (Date.now() - start < within) {
      if ((await this.hears(audible)) >= audible) return Date.now() - start;
    }
    throw new Error(`${this.page.url()}: nobody was heard within ${within} ms`);
  }

  /** Returns the audio tracks of others that the page plays. */
  tracks(): Promise<string[]> {
    return this.page.evaluate(() =>
      [...document.querySelectorAll('audio')].flatMap(({ srcObject: stream }) =>
        stream instanceof MediaStream ? stream.getAudioTracks().map((track) => track.id) : [],
      ),
    );
  }

  /** Waits until nobody else is heard any more. */
  async untilSilent(within = waitLimit): Promise<void> {
    const start = Date.now();
    while (Date.now() - start < within) {
      if ((await this.hears(audible)) < audible) return;
    }
    throw new Error(`${this.page.url()}: somebody was heard for ${within} ms`);
  }

  /** Waits until another person's video moves, and returns the time in milliseconds. */
  async untilSeen(within = waitLimit): Promise<number> {
    const start = Date.now();
    await this.page.waitForFunction(
      () => {
        const moving = globalThis as unknown as { moving?: WeakMap<HTMLVideoElement, number> };
        moving.moving ??= new WeakMap();
        const seen = [...document.querySelectorAll('video')].filter((v) => {
          const before = moving.moving?.get(v);
          const frames = v.getVideoPlaybackQuality().totalVideoFrames;
          moving.moving?.set(v, frames);
          return before !== undefined && frames > before && v.videoWidth > 0;
        });
        return seen.length >= 2; // one's own and another's
      },
      undefined,
      { timeout: within, polling: 200 },
    );
    return Date.now() - start;
  }

  /** Presses Tab until the control of that name has the focus. */
  async tabTo(name: string): Promise<void> {
    for (let i = 0; i < 40; i++) {
      const focused = await this.page.evaluate(() => {
        const element = document.activeElement;
        const label = element instanceof HTMLInputElement ? element.labels?.[0]?.textContent : undefined;
        return (element?.getAttribute('aria-label') ?? label ?? element?.textContent ?? '').trim();
      });
      if (focused.startsWith(name)) return;
      await this.page.keyboard.press('Tab');
    }
    throw new Error(`Tab never reached ${name}`);
  }

  /** Makes media use one way only, from the next page on. */
  async useOnly(way: Way): Promise<void> {
    await this.page.addInitScript(`(function () {${useOnly}})('${way}')`);
  }

  /** Records the screen reader announcements of the page from the next time it is opened. */
  async recordReadOut(): Promise<void> {
    await this.page.addInitScript(() => {
      const said: string[] = [];
      Object.assign(globalThis, { said });
      const record = (): void => {
        for (const region of document.querySelectorAll('[role=status]')) said.push(region.textContent);
      };
      new MutationObserver(record).observe(document, { subtree: true, childList: true, characterData: true });
    });
  }

  readOut(): Promise<string> {
    return this.page.evaluate(() => (globalThis as unknown as { said: string[] }).said.join('\n'));
  }

  /** Fails if axe finds any violation on the current page. */
  async accessible(view: string): Promise<void> {
    // evaluate runs in the page's own world without a script element, so the content
    // security policy stays in force.
    if (!(await this.page.evaluate(() => 'axe' in globalThis))) await this.page.evaluate(axeSource);
    const found = await this.page.evaluate(async () => {
      const { axe } = globalThis as unknown as {
        axe: { run(options: { resultTypes: string[] }): Promise<{ violations: { id: string; nodes: { html: string }[] }[] }> };
      };
      // The passed checks are not read, and reporting them takes half the time.
      const { violations } = await axe.run({ resultTypes: ['violations'] });
      return violations.map((v) => `${v.id}: ${v.nodes.map((n) => n.html).join(' ')}`);
    });
    expect(found, `axe on ${view}`).toEqual([]);
  }

  /** Saves a screenshot of the page for review. */
  async picture(name: string): Promise<void> {
    mkdirSync(artefacts, { recursive: true });
    await this.page.screenshot({ path: join(artefacts, `${name}.png`) });
  }

  /** Checks that axe finds nothing and the page does not scroll sideways, and saves a screenshot. */
  async seen(view: string): Promise<void> {
    // Elements have other colors during an animation.
    await this.page.evaluate(() =>
      Promise.allSettled(
        document
          .getAnimations()
          .filter((a) => a.effect?.getComputedTiming().endTime !== Infinity)
          .map((a) => a.finished),
      ),
    );
    await this.picture(view);
    await this.accessible(view);
    const overflow = await this.page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
    expect(overflow, `${view} scrolls sideways`).toBe(0);
  }

  /** Fails if the page called another host or logged a message that is not allowed. */
  assertNoComplaints(origin: string, allowed: RegExp[] = []): void {
    // A slow disk causes the first message, and the test checks how the page reacts to it.
    // livekit-client logs the second if media of a participant who leaves was in flight, and
    // the last two if a page closes slowly, or leaves a session after the server has closed it.
    allowed = [
      ...allowed,
      /status of 503/,
      /add a track for a participant, that's not present/,
      /DataChannel error on .* User-Initiated Abort/,
      /publisher data channel '(LOSSY|RELIABLE)' closed unexpectedly/,
    ];
    const elsewhere = this.requests.filter((url) => !url.startsWith(origin) && !/^(data|blob):/.test(url));
    expect(elsewhere, 'requests to other hosts').toEqual([]);
    expect(
      this.complaints.filter((c) => !allowed.some((a) => a.test(c))),
      'errors in the console',
    ).toEqual([]);
  }

  async close(): Promise<void> {
    Person.present.delete(this);
    await this.context.close();
  }
}
