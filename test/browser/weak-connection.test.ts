import type { Locator } from 'playwright-core';
import { expect, test } from 'vitest';
import { Person, phone } from './browser';
import { browser, closeAll, server, setUp } from './fixture';
import { quality, reword } from './media';

setUp();

const tile = (person: Person, name: string): Locator => person.page.locator('.tile', { hasText: name });

test('a bad connection is shown by shape and words, to oneself with what to do', async () => {
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
  // The quality of new participants is reported within five seconds.
  await amina.untilSeen();
  await expect
    .poll(() => {
      becomes('poor');
      return tile(amina, 'Ben').locator('.connection').count();
    })
    .toBe(1);
  await tile(amina, 'Ben').getByText('Weak connection').waitFor();
  await amina.page.getByText('Your connection is weak. Turn off your camera or use low-data mode').waitFor();
  await amina.seen('stage-weak');
  await expect.poll(() => tile(ben, 'Amina').locator('.connection').count()).toBe(1);
  const toast = ben.page.locator('.toast', { hasText: 'Your connection is weak' });
  await toast.hover();
  await ben.seen('stage-phone-weak');
  await toast.getByRole('button', { name: 'Low-data mode' }).click();
  await ben.page.getByText('Low-data mode is on.').waitFor();
  await ben.page.getByText('Turn off your camera to keep the sound.').waitFor();

  // Media that arrives is believed more than the server, which reports late.
  await ben.button('Stop camera').click();
  await ben.button('Mute').click();
  becomes('lost');
  await tile(amina, 'Ben').getByText('No connection').waitFor();
  becomes('excellent');
  await expect.poll(() => amina.page.locator('.connection, .toast').count()).toBe(0);
  await closeAll([amina, ben]);
});
