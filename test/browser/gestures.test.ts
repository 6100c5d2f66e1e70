import type { CDPSession } from 'playwright-core';
import { expect, test } from 'vitest';
import { Person, phone } from './browser';
import { browser, closeAll, server, setUp } from './fixture';

setUp();

interface Point {
  x: number;
  y: number;
}

/** Moves fingers over the screen together; each has the points that it touches. */
async function drag(session: CDPSession, ...fingers: Point[][]): Promise<void> {
  const at = (step: number): (Point & { id: number })[] => fingers.map((points, id) => ({ ...(points[step] as Point), id }));
  const touch = (type: 'touchStart' | 'touchMove' | 'touchEnd', touchPoints: Point[]): Promise<unknown> =>
    session.send('Input.dispatchTouchEvent', { type, touchPoints });
  const [first] = fingers;
  if (!first) return;
  // Fingers do not touch a screen at the same moment.
  for (let down = 1; down <= fingers.length; down++) await touch('touchStart', at(0).slice(0, down));
  for (let step = 1; step < first.length; step++) await touch('touchMove', at(step));
  await touch('touchEnd', []);
}

test('on a phone, two fingers enlarge a shared screen, one finger moves it, and two taps show all of it', async () => {
  const room = await server.createMeeting({});
  const amina = await Person.arrive(browser);
  const ben = await Person.arrive(browser, { viewport: phone, touch: true });
  const { page } = ben;
  await amina.join(room.final_link);
  await ben.join(room.guest_link, 'Ben');
  await amina.button('Share screen').click();
  const screen = page.locator('.tile.share[data-large]');
  await screen.locator('video').waitFor();
  const { x, y, width, height } = await screen.evaluate(async (tile) => {
    await Promise.allSettled(document.getAnimations().map((animation) => animation.finished));
    return tile.getBoundingClientRect().toJSON() as Point & { width: number; height: number };
  });
  const middle = { x: x + width / 2, y: y + height / 2 };
  const beside = (...distances: number[]): Point[] => distances.map((distance) => ({ x: middle.x + distance, y: middle.y }));
  const zoom = async (): Promise<{ factor: number; left: number }> =>
    screen.locator('.zoomed').evaluate((layer) => {
      const { a, e } = new DOMMatrix(getComputedStyle(layer).transform);
      return { factor: a, left: e };
    });
  const view = (): Promise<string | null> => page.evaluate(() => localStorage.getItem('parley.view.speaker'));
  const session = await ben.context.newCDPSession(page);

  await drag(session, beside(-20, -30, -40), beside(20, 30, 40));
  await expect.poll(async () => (await zoom()).factor).toBeCloseTo(2, 1);
  // The page itself is not enlarged.
  expect(await page.evaluate(() => visualViewport?.scale)).toBe(1);
  const { left } = await zoom();
  await drag(session, beside(80, 40, 0));
  await expect.poll(async () => (await zoom()).left).toBeCloseTo(left - 80, 0);
  await ben.seen('phone-share-pinched');
  const tapTwice = async (): Promise<void> => {
    for (let i = 0; i < 2; i++) await page.touchscreen.tap(middle.x, middle.y);
  };
  await tapTwice();
  await expect.poll(zoom).toEqual({ factor: 1, left: 0 });
  expect(await screen.locator('.pin').getAttribute('aria-pressed')).toBe('false');

  // A swipe would change a view that is not seen while the screen is large.
  await drag(session, beside(100, -100));
  expect(await view()).toBeNull();
  await amina.button('Stop sharing').click();
  await screen.waitFor({ state: 'detached' });
  // Until a slow page has drawn the view without the screen, it does not notice a swift swipe.
  await expect
    .poll(async () => {
      await drag(session, beside(100, -100));
      return view();
    })
    .toBe('on');
  await closeAll([amina, ben]);
});
