import type { Locator } from 'playwright-core';
import { expect, test } from 'vitest';
import { Person, phone } from './browser';
import { browser, closeAll, server, setUp } from './fixture';
import { quality, reword } from './media';

setUp();

const tile = (person: Person, name: string): Locator => person.page.locator('.tile', { hasText: name });

test('a bad connection is shown by shape and words, and the affected participant sees the remedy', async () => {
  const room = await server.createMeeting({});
  const amina = await Person.arrive(browser);
  const ben = await Person.arrive(browser, { viewport: phone });
  let number: number = quality.excellent;
  let tell = (): void => undefined;
  for (const { page } of [amina, ben]) {
    await page.routeWebSocket(/\/rtc/, (socket) => {
      const upstream = socket.connectToServer();
      upstream.onMessage((said) => {
        const reworded = typeof said === 'string' ? undefined : reword(said, number);
        socket.send(reworded ?? said);
        if (!reworded) return;
        const before = tell;
        tell = () => {
          before();
          socket.send(reword(reworded, number) ?? reworded);
        };
      });
    });
  }
  await amina.join(room.final_link);
  await ben.join(room.guest_link, 'Ben');
  const becomes = (now: keyof typeof quality): void => {
    number = quality[now];
    tell();
  };
  const toast = ben.page.locator('.toast', { hasText: 'Your connection is weak' });
  await amina.untilSeen();
  // The quality of new participants is reported within five seconds, at different times to the two pages. A toast ends after
  // six seconds, but stays while somebody points at it.
  await Promise.all([
    expect
      .poll(() => {
        becomes('poor');
        return tile(amina, 'Ben').locator('.connection').count();
      })
      .toBe(1),
    amina.page.getByText('Your connection is weak. Turn off your camera or use low-data mode').waitFor(),
    toast.hover(),
  ]);
  await tile(amina, 'Ben').getByText('Weak connection').waitFor();
  await amina.seen('stage-weak');
  await expect.poll(() => tile(ben, 'Amina').locator('.connection').count()).toBe(1);
  await ben.seen('stage-phone-weak');
  // The page moves under the pointer, so that the toast may end soon after.
  await Promise.all([
    ben.page.getByText('Turn off your camera to keep the sound.').waitFor(),
    toast.getByRole('button', { name: 'Low-data mode' }).click(),
  ]);
  await ben.page.getByText('Low-data mode is on.').waitFor();

  // Media that arrives is believed more than the server, which reports late.
  await ben.button('Stop camera').click();
  await ben.button('Mute').click();
  becomes('lost');
  await tile(amina, 'Ben').getByText('No connection').waitFor();
  becomes('excellent');
  await expect.poll(() => amina.page.locator('.connection, .toast').count()).toBe(0);

  // A camera that is switched off leaves no picture, also while the connection counts as lost.
  // A hidden page believes the server, because it does not see whether media arrives.
  await amina.page.evaluate(() => Object.defineProperty(document, 'hidden', { value: true }));
  await ben.button('Start camera').click();
  await tile(amina, 'Ben').locator('video:not(.unsized)').waitFor();
  becomes('lost');
  await amina.page.locator('.tile[data-away]', { hasText: 'Ben' }).locator('video').waitFor();
  await ben.button('Stop camera').click();
  await tile(amina, 'Ben').locator('.disc').waitFor();
  await tile(amina, 'Ben').getByText('No connection').waitFor();
  expect(await tile(amina, 'Ben').locator('video, canvas').count()).toBe(0);
  await closeAll([amina, ben]);
});
