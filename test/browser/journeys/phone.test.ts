import type { Locator } from 'playwright-core';
import { expect, test } from 'vitest';
import { Person } from '../browser';
import { browser, closeAll, server, setUp } from '../fixture';

setUp();

test.each([
  { width: 320, height: 568 },
  { width: 390, height: 844 },
])('on a phone of $width px every control is on the screen and can be pressed', async (viewport) => {
  const room = await server.createRoom();
  const person = await Person.arrive(browser, { viewport, touch: true });
  const { page } = person;
  /** Fails unless a finger on the middle of a control would press it. */
  const canBePressed = async (control: Locator): Promise<void> => {
    const found = await control.evaluate((element) => {
      const { left, right, top, bottom, width, height } = element.getBoundingClientRect();
      const hit = document.elementFromPoint((left + right) / 2, (top + bottom) / 2);
      return {
        onScreen: left >= 0 && right <= innerWidth && top >= 0 && bottom <= innerHeight,
        largeEnough: width >= 44 && height >= 44,
        free: hit !== null && element.contains(hit),
      };
    });
    expect(found, await control.innerText()).toEqual({ onScreen: true, largeEnough: true, free: true });
  };
  await person.open(room.guest_link);
  await page.getByLabel('Your name').fill('Ben');
  await canBePressed(person.button('Join'));
  await person.button('Join').click();
  await person.button('Leave').first().waitFor();
  await expect.poll(() => page.locator('.controls button').count()).toBeGreaterThanOrEqual(5);
  for (const control of await page.locator('.controls button').all()) await canBePressed(control);
  await person.seen(`journey-phone-${viewport.width}`);
  await person.button('Leave').first().click();
  await page.getByRole('heading', { name: 'You left the room' }).waitFor();
  await canBePressed(person.button('Rejoin'));
  await closeAll([person]);
});

test('a key that is pressed right after Escape opens its panel, and the panel stays open', async () => {
  const room = await server.createRoom();
  const person = await Person.arrive(browser, { viewport: { width: 390, height: 844 } });
  const { page } = person;
  await person.join(room.guest_link, 'Ben');
  await page.keyboard.press('c');
  await page.getByRole('log').waitFor();
  // Escape closes the dialog, and the browser tells the page later.
  await page.evaluate(async () => {
    const dialog = document.querySelector('dialog');
    const closed = new Promise((done) => dialog?.addEventListener('close', () => setTimeout(done)));
    dialog?.close();
    window.dispatchEvent(new KeyboardEvent('keydown', { key: 'p', code: 'KeyP' }));
    await closed;
  });
  await page.getByRole('dialog').getByRole('heading', { name: 'People', exact: true }).waitFor();
  await page.keyboard.press('Escape');
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  await closeAll([person]);
});
