import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Locator } from 'playwright-core';
import { expect, test } from 'vitest';
import { desktop, type Look, launch, Person, phone } from './browser';
import { browser, closeAll, server, setUp } from './fixture';

setUp();

const tile = (person: Person, name: string): Locator => person.page.locator('.tile', { hasText: name });
const large = (person: Person): Locator => person.page.locator('.tile[data-large]');

interface Box {
  x: number;
  y: number;
  width: number;
  height: number;
}

/** Returns where an element is after it has stopped moving. */
async function boxOf(locator: Locator): Promise<Box> {
  return locator.evaluate(async (element) => {
    await Promise.allSettled(document.getAnimations().map((animation) => animation.finished));
    const { x, y, width, height } = element.getBoundingClientRect();
    return { x, y, width, height };
  });
}

/** Joins Amina as the host and guests with the names to a video room. */
async function meet(names: string[], look: (name: string) => Look = () => ({}), title?: string): Promise<Person[]> {
  const room = await server.createMeeting({}, title === undefined ? {} : { title });
  const people: Person[] = [];
  for (const name of ['Amina', ...names]) {
    const person = await Person.arrive(browser, look(name));
    await person.join(name === 'Amina' ? room.final_link : room.guest_link, name === 'Amina' ? undefined : name);
    people.push(person);
  }
  for (const { page } of people) await expect.poll(() => page.locator('.tile').count()).toBe(people.length);
  return people;
}

test('a long title pushes no control off a small screen, and the stage is never empty', async () => {
  const title = 'Algebra II, group B: quadratic equations, lesson 14, with all that was left of lesson thirteen';
  const people = await meet(['Ben', 'Chen'], () => ({}), title);
  const [{ page }] = people as [Person];
  for (const [width, height] of [
    [320, 640],
    [360, 640],
    [390, 664],
    [600, 800],
    [320, 256],
  ] as const) {
    await page.setViewportSize({ width, height });
    const outside = (): Promise<string[]> =>
      page.locator('.controls button').evaluateAll(
        (all, [width, height]) =>
          all.flatMap((control) => {
            const { left, right, top, bottom } = control.getBoundingClientRect();
            return left >= 0 && right <= width && top >= 0 && bottom <= height ? [] : control.textContent;
          }),
        [width, height] as const,
      );
    await expect.poll(outside, { message: `${width} by ${height}` }).toEqual([]);
    expect(await page.locator('.controls button').count()).toBeGreaterThanOrEqual(4);
    const other = await boxOf(
      tile(people[0] as Person, 'Ben')
        .or(tile(people[0] as Person, 'Chen'))
        .first(),
    );
    expect(Math.min(other.width, other.height), `${width} by ${height}`).toBeGreaterThanOrEqual(64);
    await (people[0] as Person).seen(`stage-small-${width}-${height}`);
  }
  await closeAll(people);
});

test('the keyboard reaches the controls before the tiles', async () => {
  const people = await meet(['Ben', 'Chen']);
  const [{ page }] = people as [Person];
  await page.locator('h1').focus();
  const order: string[] = [];
  for (let i = 0; i < 14; i++) {
    await page.keyboard.press('Tab');
    order.push(
      (await page.evaluate(() => document.activeElement?.getAttribute('aria-label') ?? document.activeElement?.textContent)) ?? '',
    );
  }
  const at = (label: RegExp): number => order.findIndex((name) => label.test(name));
  expect(at(/^Pin/)).toBeGreaterThan(-1);
  for (const control of [/^Mute/, /^Stop camera/, /^More/, /^Leave/]) {
    expect(at(control), order.join()).toBeGreaterThan(-1);
    expect(at(control), order.join()).toBeLessThan(at(/^Pin/));
  }
  await closeAll(people);
});

test('in a call of two the other fills the stage, and one’s own picture floats in a corner', async () => {
  const people = await meet(['Ben'], (name) => ({ viewport: name === 'Ben' ? phone : desktop }));
  const [amina, ben] = people as [Person, Person];
  await amina.untilSeen();
  const stage = await boxOf(amina.page.locator('.tiles'));
  expect(await boxOf(tile(amina, 'Ben'))).toEqual(stage);
  const own = tile(amina, 'You');
  const inCorner = async (): Promise<string> => {
    const { x, y, width, height } = await boxOf(own);
    return `${y + height / 2 > stage.y + stage.height / 2 ? 'bottom' : 'top'} ${x + width / 2 > stage.x + stage.width / 2 ? 'right' : 'left'}`;
  };
  expect(await boxOf(own)).toMatchObject({ width: 208, height: 117 });
  expect(await boxOf(tile(ben, 'You'))).toMatchObject({ width: 92, height: 124 });
  expect(await inCorner()).toBe('bottom right');
  await amina.seen('stage-two');
  await ben.seen('stage-phone-two');

  // It is dragged, and snaps to the nearest corner.
  const from = await boxOf(own);
  await amina.page.mouse.move(from.x + 60, from.y + 40);
  await amina.page.mouse.down();
  await amina.page.mouse.move(stage.x + 300, stage.y + 200, { steps: 4 });
  await amina.page.mouse.up();
  await expect.poll(inCorner).toBe('top left');
  expect((await boxOf(own)).x - stage.x).toBe(12);

  // Or moved by keyboard, around all corners.
  await amina.button('Move self view to another corner').focus();
  await amina.page.keyboard.press('Enter');
  await expect.poll(inCorner).toBe('bottom left');
  await amina.page.keyboard.press('Enter');
  await expect.poll(inCorner).toBe('bottom right');

  // The third person to join gets a tile of the same size as everybody.
  const chen = await Person.arrive(browser);
  await chen.join(ben.page.url().replace(/\?.*/, ''), 'Chen');
  await expect.poll(async () => (await boxOf(own)).width).toBeGreaterThan(208);
  let sizes: Box[] = [];
  await expect
    .poll(async () => {
      sizes = await Promise.all(['Ben', 'Chen', 'You'].map((name) => boxOf(tile(amina, name))));
      return new Set(sizes.map(({ width, height }) => `${width} ${height}`)).size;
    })
    .toBe(1);
  // The visitor comes last.
  expect((sizes[2] as Box).y).toBeGreaterThanOrEqual((sizes[1] as Box).y);
  await closeAll([...people, chen]);
});

test('a tile is pinned with two taps or clicks, and the pin can be pressed on a touch screen', async () => {
  const people = await meet(['Ben', 'Chen'], (name) => ({ viewport: name === 'Ben' ? phone : desktop, touch: name === 'Ben' }));
  const [amina, ben] = people as [Person, Person];
  await tile(amina, 'Chen').dblclick({ position: { x: 100, y: 100 } });
  await expect.poll(() => large(amina).innerText()).toContain('Chen');
  await tile(amina, 'Chen').dblclick({ position: { x: 100, y: 100 } });
  await expect.poll(() => large(amina).count()).toBe(0);

  const tap = async (locator: Locator): Promise<void> => {
    const { x, y, width, height } = await boxOf(locator);
    await ben.page.touchscreen.tap(x + width / 2, y + height / 2);
  };
  await tap(tile(ben, 'Chen'));
  await tap(tile(ben, 'Chen'));
  await expect.poll(() => large(ben).innerText()).toContain('Chen');
  // In the strip the others come before oneself.
  const [other, own] = await Promise.all(['Amina', 'You'].map((name) => boxOf(tile(ben, name))));
  expect((other as Box).x).toBeLessThan((own as Box).x);
  await ben.seen('stage-phone-pinned');
  await tap(ben.button('Pin Chen'));
  await expect.poll(() => large(ben).count()).toBe(0);
  // A tap on the corner of a tile does not press a button that is not shown.
  const corner = await boxOf(tile(ben, 'Amina').locator('.pin'));
  await ben.page.touchscreen.tap(corner.x + 10, corner.y + 10);
  expect(await large(ben).count()).toBe(0);
  await tap(ben.button('Pin Amina'));
  await expect.poll(() => large(ben).innerText()).toContain('Amina');
  await closeAll(people);
});

test('people without video share one row when others have video', async () => {
  const people = await meet(['Ben', 'Chen', 'Dana']);
  const [amina, ben, chen] = people as [Person, Person, Person];
  const before = await boxOf(tile(amina, 'Dana'));
  await ben.button('Stop camera').click();
  await chen.button('Stop camera').click();
  await expect.poll(() => amina.page.locator('.tile[data-chip]').count()).toBe(2);
  const [b, c, dana] = await Promise.all(['Ben', 'Chen', 'Dana'].map((name) => boxOf(tile(amina, name))));
  expect((b as Box).y).toBe((c as Box).y);
  expect((b as Box).height).toBeLessThan(60);
  expect((dana as Box).height).toBeGreaterThan(before.height);
  await amina.seen('stage-without-video');
  await ben.button('Start camera').click();
  await expect.poll(() => amina.page.locator('.tile[data-chip]').count()).toBe(1);
  await closeAll(people);
});

/** Writes a video file for Chromium's fake camera. */
function uprightCamera(folder: string): string {
  const [width, height] = [180, 320];
  const frame = Buffer.concat([Buffer.from('FRAME\n'), Buffer.alloc(width * height, 160), Buffer.alloc((width * height) / 2, 110)]);
  const path = join(folder, 'upright.y4m');
  writeFileSync(
    path,
    Buffer.concat([Buffer.from(`YUV4MPEG2 W${width} H${height} F10:1 Ip A1:1 C420jpeg\n`), ...Array<Buffer>(10).fill(frame)]),
  );
  return path;
}

test('an upright picture is shown as a whole on a wide tile, and a picture replaces the initials', async () => {
  const upright = await launch([
    '--use-fake-device-for-media-stream',
    '--use-fake-ui-for-media-stream',
    `--use-file-for-fake-video-capture=${uprightCamera(server.dataDir)}`,
  ]);
  const room = await server.createMeeting({});
  const amina = await Person.arrive(browser);
  const ben = await Person.arrive(upright);
  await amina.join(room.final_link);
  // Records what a tile without a picture of a known size shows.
  await amina.page.evaluate(() => {
    const shown = new Set<string>();
    Object.assign(globalThis, { shown });
    new MutationObserver(() => {
      for (const tile of document.querySelectorAll('.tile')) {
        if (!tile.querySelector('video:not(.unsized)')) shown.add(tile.querySelector('.disc') ? 'initials' : 'nothing');
      }
    }).observe(document.body, { subtree: true, childList: true, attributes: true });
  });
  await ben.join(room.guest_link, 'Ben');
  const picture = tile(amina, 'Ben').locator('video.uncropped');
  await expect.poll(() => picture.evaluate((video) => getComputedStyle(video).objectFit)).toBe('contain');
  await expect
    .poll(() =>
      tile(amina, 'Ben')
        .locator('video.blurred')
        .evaluate((video) => (video as HTMLVideoElement).videoWidth),
    )
    .toBeGreaterThan(0);
  expect(await tile(amina, 'Ben').locator('.disc').count()).toBe(0);
  expect(await amina.page.evaluate(() => [...(globalThis as unknown as { shown: Set<string> }).shown])).toEqual(['initials']);
  await amina.seen('stage-upright');
  await ben.button('Stop camera').click();
  await tile(amina, 'Ben').locator('.disc').waitFor();
  expect(await tile(amina, 'Ben').locator('video').count()).toBe(0);
  await closeAll([amina, ben]);
  await upright.close();
});

test('a shared screen can be enlarged, and the room fills the whole screen', async () => {
  const people = await meet(['Ben']);
  const [amina, ben] = people as [Person, Person];
  await ben.button('Share screen').click();
  await expect.poll(() => large(amina).innerText()).toContain('Ben’s screen');
  const scale = (): Promise<number> =>
    large(amina)
      .locator('.zoomed')
      .evaluate((layer) => new DOMMatrix(getComputedStyle(layer).transform).a);
  const offset = (): Promise<number> =>
    large(amina)
      .locator('.zoomed')
      .evaluate((layer) => new DOMMatrix(getComputedStyle(layer).transform).e);
  await amina.button('Zoom in').click();
  expect(await scale()).toBe(1.5);
  const { x, y, width, height } = await boxOf(large(amina));
  await amina.page.mouse.move(x + width / 2, y + height / 2);
  await amina.page.keyboard.down('Control');
  await amina.page.mouse.wheel(0, -100);
  await amina.page.keyboard.up('Control');
  await expect.poll(scale).toBeGreaterThan(2);
  const before = await offset();
  await amina.page.mouse.down();
  await amina.page.mouse.move(x + width / 2 + 50, y + height / 2, { steps: 3 });
  await amina.page.mouse.up();
  expect(await offset()).toBeCloseTo(before + 50, 0);
  await amina.button('Zoom in').focus();
  await amina.page.keyboard.press('ArrowRight');
  await expect.poll(offset).toBeLessThan(before);
  await amina.seen('stage-share-zoomed');
  // Two clicks show all of it again, and pin nothing.
  await amina.page.mouse.dblclick(x + width / 2, y + height / 2);
  await expect.poll(scale).toBe(1);
  expect(await large(amina).locator('.pin').getAttribute('aria-pressed')).toBe('false');

  await amina.button('Full screen').click();
  await amina.button('Exit full screen').waitFor();
  expect(await amina.page.evaluate(() => document.fullscreenElement?.tagName)).toBe('HTML');
  await amina.button('Exit full screen').click();
  await amina.button('Full screen').waitFor();
  await closeAll(people);
});

test.each([false, true])('tiles move to their new places, unless motion is reduced: %s', async (reducedMotion) => {
  const people = await meet(['Ben', 'Chen'], () => ({ reducedMotion }));
  const [amina] = people as [Person];
  await amina.page.evaluate(() => {
    const animated: string[] = [];
    Object.assign(globalThis, { animated });
    const animate = Element.prototype.animate;
    Element.prototype.animate = function (keyframes, options) {
      for (const frame of keyframes as Keyframe[]) animated.push(...Object.keys(frame));
      return animate.call(this, keyframes, options);
    };
  });
  await tile(amina, 'Chen').dblclick({ position: { x: 100, y: 100 } });
  await expect.poll(() => large(amina).count()).toBe(1);
  const animated = await amina.page.evaluate(() => [...new Set((globalThis as unknown as { animated: string[] }).animated)].toSorted());
  expect(animated).toEqual(reducedMotion ? [] : ['transform', 'transformOrigin']);
  await closeAll(people);
});
