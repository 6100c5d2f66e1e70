import { expect, test } from 'vitest';
import { desktop, type Look, Person, phone } from './browser';
import { drawCamera, type Face, FakeGuests, faces } from './faces';
import { browser, closeAll, server, setUp } from './fixture';

setUp();

const across = { width: 844, height: 390 };
const onPhone: Look = { viewport: phone, touch: true };

const title = 'Weekly product review';
const guests = [
  { name: 'Carlos Ruiz', face: faces.carlos },
  { name: 'Dana Whitfield', face: faces.dana },
  { name: 'Emil Søndergaard', face: faces.emil },
  { name: 'Fatou Diallo', face: faces.fatou },
  { name: 'Goran Petrović', face: faces.goran },
  { name: 'Hana Kimura', face: faces.hana },
  { name: 'Ivo', face: faces.ivo },
] satisfies { name: string; face: Face }[];

async function arrive(look: Look, face: Face): Promise<Person> {
  const person = await Person.arrive(browser, look);
  await drawCamera(person, face);
  return person;
}

/** Returns everything that is wrong with what a page shows. */
function faults({ page }: Person): Promise<string[]> {
  return page.evaluate(async () => {
    await Promise.allSettled(
      document
        .getAnimations()
        .filter((animation) => animation.effect?.getComputedTiming().endTime !== Infinity)
        .map((animation) => animation.finished),
    );
    const found: string[] = [];
    const { scrollWidth, clientWidth } = document.documentElement;
    if (scrollWidth > clientWidth) found.push(`the page is ${scrollWidth - clientWidth} px too wide`);
    const nameOf = (element: Element): string => (element.getAttribute('aria-label') ?? element.textContent).trim();
    const isIn = (inner: DOMRect, outer: { left: number; right: number; top: number; bottom: number }): boolean =>
      inner.left >= outer.left - 1 && inner.right <= outer.right + 1 && inner.top >= outer.top - 1 && inner.bottom <= outer.bottom + 1;
    const screen = { left: 0, right: innerWidth, top: 0, bottom: innerHeight };
    /** Whether nothing is drawn over the middle of an element. */
    const isOnTop = (element: Element, within: Element = element): boolean => {
      const { x, y, width, height } = element.getBoundingClientRect();
      return within.contains(document.elementFromPoint(x + width / 2, y + height / 2));
    };

    for (const control of document.querySelectorAll('.controls button')) {
      if (!isIn(control.getBoundingClientRect(), screen)) found.push(`${nameOf(control)} is not on the screen`);
      else if (!isOnTop(control)) found.push(`${nameOf(control)} is covered`);
    }

    const tiles = [...document.querySelectorAll('.tiles > li, .faces > li')];
    const stage = document.querySelector('.stage')?.getBoundingClientRect();
    const boxes = tiles.map((tile) => tile.getBoundingClientRect());
    tiles.forEach((tile, i) => {
      const box = boxes[i] as DOMRect;
      if (stage && !isIn(box, stage)) found.push(`${nameOf(tile)} is not on the stage`);
      if (tile.hasAttribute('data-floating')) return;
      boxes.slice(i + 1).forEach((other, n) => {
        const later = tiles[i + 1 + n] as Element;
        if (later.hasAttribute('data-floating')) return;
        const wide = Math.min(box.right, other.right) - Math.max(box.left, other.left);
        const high = Math.min(box.bottom, other.bottom) - Math.max(box.top, other.top);
        if (wide > 0 && high > 0) found.push(`${nameOf(tile)} overlaps ${nameOf(later)}`);
      });
      const label = tile.querySelector('.tile-label, .face-name');
      if (!label) return;
      const shown = label.getBoundingClientRect();
      if (shown.width < 8 || !isIn(shown, box)) found.push(`the name of ${nameOf(tile)} is cut off`);
      else if (!isOnTop(label, tile)) found.push(`the name of ${nameOf(tile)} is covered`);
    });

    const canvas = new OffscreenCanvas(16, 16);
    const context = canvas.getContext('2d', { willReadFrequently: true });
    for (const tile of document.querySelectorAll('.tile:not([data-chip], .own)')) {
      const video = tile.querySelector<HTMLVideoElement>('video:not(.blurred)');
      const decoded = [...tile.querySelectorAll('video')].map((each) => each.getVideoPlaybackQuality().totalVideoFrames);
      if (!context || !video || Math.min(...decoded) < 3) {
        found.push(`${nameOf(tile)} has no picture`);
        continue;
      }
      context.drawImage(video, 0, 0, 16, 16);
      const { data } = context.getImageData(0, 0, 16, 16);
      const bright = Array.from({ length: 256 }, (_, n) => ((data[4 * n] ?? 0) + (data[4 * n + 1] ?? 0) + (data[4 * n + 2] ?? 0)) / 3);
      if (Math.max(...bright) < 60 || Math.max(...bright) - Math.min(...bright) < 30) found.push(`the picture of ${nameOf(tile)} is black`);
    }
    return found;
  });
}

/** Takes a picture once the page shows what it should. */
async function show(person: Person, name: string): Promise<void> {
  await expect.poll(() => faults(person), { message: name }).toEqual([]);
  await person.picture(`picture-${name}`);
}

/** Returns the areas of the tiles, the smallest first. */
const areas = ({ page }: Person): Promise<number[]> =>
  page.locator('.tiles > .tile').evaluateAll((all) =>
    all
      .map((tile) => tile.getBoundingClientRect())
      .map(({ width, height }) => Math.round(width * height))
      .toSorted((a, b) => a - b),
  );

test('a meeting of one to nine people, with a shared screen', async () => {
  const room = await server.createMeeting({}, { title });
  const fakeGuests = await FakeGuests.gather(browser, server.url);
  const amina = await arrive({}, faces.amina);
  const bela = await arrive(onPhone, faces.bela);
  /** Lets guests join until there are so many people. */
  const fill = async (from: number, to: number): Promise<void> => {
    for (const { name, face } of guests.slice(from - 2, to - 2)) await fakeGuests.join(room.room_id, name, face);
    await expect.poll(() => amina.page.locator('.tiles > .tile').count()).toBe(to);
  };

  await amina.join(room.final_link);
  // The bars of the browser have the color of the stage.
  const bars = amina.page.locator('meta[name=theme-color]');
  expect(await bars.evaluateAll((all) => all.map((meta) => meta.getAttribute('content')))).toEqual(['#101418', '#101418']);
  await show(amina, 'one');
  await bela.join(room.guest_link, 'Béla Kovács');
  await show(amina, 'two');
  await show(bela, 'two-phone');

  await fill(2, 3);
  await show(amina, 'three');
  const stageColor = (): Promise<string> => amina.page.locator('html').evaluate((page) => getComputedStyle(page).backgroundColor);
  expect(await stageColor()).toBe('rgb(16, 20, 24)');
  await amina.page.emulateMedia({ colorScheme: 'dark' });
  await show(amina, 'three-dark');
  expect(await stageColor()).toBe('rgb(16, 20, 24)');
  await amina.page.emulateMedia({ colorScheme: 'light' });
  await show(bela, 'three-phone');

  await fill(3, 5);
  await show(amina, 'five');
  await show(bela, 'five-phone');
  expect(await areas(bela)).toHaveLength(5);
  expect(Math.min(...(await areas(bela)))).toBeGreaterThanOrEqual(36_000);
  await bela.page.setViewportSize(across);
  await show(bela, 'five-phone-across');

  await fakeGuests.share('Emil Søndergaard');
  for (const person of [amina, bela]) await person.page.locator('.share video').waitFor();
  await show(amina, 'share');
  await show(bela, 'share-phone-across');
  await bela.page.setViewportSize(phone);
  await show(bela, 'share-phone');
  await fakeGuests.stopSharing('Emil Søndergaard');
  for (const person of [amina, bela]) await person.page.locator('.share').waitFor({ state: 'detached' });

  await fill(5, 9);
  await show(amina, 'nine');
  expect(await areas(amina)).toHaveLength(9);
  // The area that livekit/meet gives nine people in a window of this size.
  expect(Math.min(...(await areas(amina)))).toBeGreaterThanOrEqual(416 * 232);
  await show(bela, 'nine-phone');
  // A notice covers no name.
  await bela.button('Raise hand').click();
  const notice = amina.page.locator('.toast', { hasText: 'Béla Kovács' });
  await notice.waitFor();
  expect(await faults(amina)).toEqual([]);
  await amina.picture('picture-nine-notice');
  expect(await notice.isVisible()).toBe(true);
  await amina.button(/^People/).click();
  await show(amina, 'nine-people');
  const roster = amina.page.locator('.roster-row');
  await expect.poll(() => roster.count()).toBe(9);
  await amina.page.getByLabel('Search people').fill('petrovic');
  await expect.poll(() => roster.allInnerTexts()).toEqual([expect.stringContaining('Goran Petrović')]);
  await fakeGuests.close();
  await closeAll([amina, bela]);
});

const themes = [
  { theme: 'light', dark: false },
  { theme: 'dark', dark: true },
];

test.each(themes)('the lobby, an audio room and error pages: $theme', async ({ theme, dark }) => {
  const meeting = await server.createMeeting({}, { title });
  const audio = await server.createRoom();
  const amina = await arrive({ dark }, faces.amina);
  const bela = await arrive({ dark, ...onPhone }, { ...faces.bela, upright: false });
  const carlos = await FakeGuests.gather(browser, server.url);
  await amina.join(meeting.final_link);
  await bela.open(meeting.guest_link);
  await bela.page.getByText(/Amina.* is here/).waitFor();
  await bela.page.getByLabel('Your name').fill('Béla Kovács');
  for (const [name, size] of [
    ['phone', phone],
    ['phone-across', across],
    ['desktop', desktop],
  ] as const) {
    await bela.page.setViewportSize(size);
    await show(bela, `lobby-${name}-${theme}`);
  }

  await amina.join(audio.final_link);
  await bela.page.setViewportSize(phone);
  await bela.join(audio.guest_link, 'Béla Kovács');
  await carlos.join(audio.room_id, 'Carlos Ruiz', null);
  for (const person of [amina, bela]) await expect.poll(() => person.page.locator('.face').count()).toBe(3);
  await bela.button('Mute').click();
  await show(amina, `audio-${theme}`);
  await show(bela, `audio-phone-${theme}`);

  await amina.leave();
  await show(amina, `left-${theme}`);
  for (const code of ['room_full', 'room_ended', 'invitation_required', 'removed', 'too_many_attempts']) {
    const status = code === 'room_ended' ? 410 : code === 'room_full' ? 409 : code === 'too_many_attempts' ? 429 : 403;
    const error = {
      code,
      message: code,
      request_id: 'r',
      ...(code === 'room_ended' && { reason: 'host' }),
      ...(code === 'room_full' && { max_participants: 4 }),
    };
    for (const person of [amina, bela]) {
      await person.page.route('**/preview', (route) => route.fulfill({ status, headers: { 'retry-after': '42' }, json: { error } }));
      await person.open('about:blank');
      await person.open(meeting.guest_link);
      await person.page.locator('.notice h1').waitFor();
      await show(person, `${code}-${person === amina ? 'desktop' : 'phone'}-${theme}`);
      await person.page.unroute('**/preview');
    }
  }
  await carlos.close();
  await closeAll([amina, bela], /40[39]|410|429/);
});
