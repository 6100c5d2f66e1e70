import { expect, test } from 'vitest';
import { ar } from '../../../web/src/messages/ar';
import { Person, phone } from '../browser';
import { browser, closeAll, server, setUp } from '../fixture';

setUp();

test('a meeting in Arabic reads from right to left and fits a phone', async () => {
  const room = await server.createRoom();
  const person = await Person.arrive(browser, { viewport: phone, locale: 'ar' });
  const { page } = person;
  await person.open(room.guest_link);
  await person.button(ar['lobby.join']).waitFor();
  expect(await page.evaluate(() => [document.documentElement.lang, document.documentElement.dir])).toEqual(['ar', 'rtl']);
  await page.locator('input[autocomplete=name]').fill('Benedikta von Hohenstein-Langenfeld');
  await person.seen('journey-arabic-lobby');
  await person.button(ar['lobby.join']).click();
  await person.button(ar['control.leave']).waitFor();
  await person.seen('journey-arabic-room');
  // The first control is on the right.
  const [first, last] = await page.locator('.controls button').evaluateAll((all) => {
    const lefts = all.map((one) => one.getBoundingClientRect().left);
    return [lefts[0] ?? 0, lefts.at(-1) ?? 0];
  });
  expect(first).toBeGreaterThan(last ?? 0);

  await person.button(ar['control.more']).click();
  await page.getByLabel(ar['language.label']).selectOption('English');
  await page.keyboard.press('Escape');
  await person.button('Leave').first().waitFor();
  expect(await page.evaluate(() => document.documentElement.dir)).toBe('ltr');
  await closeAll([person]);
});
