import { expect, test } from 'vitest';
import { Person, phone } from '../browser';
import { browser, closeAll, server, setUp } from '../fixture';

setUp();

test('Back on a phone closes what is open, and leaves only when it is pressed twice', async () => {
  const room = await server.createRoom();
  const host = await Person.arrive(browser);
  const ben = await Person.arrive(browser, { viewport: phone, touch: true });
  await host.join(room.final_link);
  await ben.page.goto(`${server.url}/`);
  await ben.join(room.guest_link, 'Ben');
  await ben.untilHeard();
  await ben.button('Chat').click();
  await ben.page.getByRole('tab', { name: 'Chat' }).waitFor();
  await ben.page.goBack();
  await ben.page.getByRole('tab', { name: 'Chat' }).waitFor({ state: 'detached' });
  // The notice stays for four seconds.
  await Promise.all([ben.page.getByText('Press Back again to leave.').waitFor(), ben.page.goBack()]);
  await ben.untilHeard();
  await ben.page.getByText('Press Back again to leave.').waitFor({ state: 'detached' });
  // Both presses in the page, so that a busy machine does not take four seconds between them.
  await ben.page.evaluate(async () => {
    const stopped = new Promise((resolve) => addEventListener('popstate', resolve, { once: true }));
    history.back();
    await stopped;
    history.back();
  });
  await ben.page.getByRole('heading', { name: 'You left the room' }).waitFor();
  await host.page.getByText('Nobody else is here now').waitFor();
  await closeAll([host, ben]);
});

test('a browser that stores nothing keeps the role and the seat when the page is reloaded', async () => {
  const room = await server.createRoom({ empty_timeout: 60 });
  const [host, guest] = [await Person.arrive(browser), await Person.arrive(browser)];
  for (const { page } of [host, guest]) {
    await page.addInitScript(() => {
      for (const name of ['localStorage', 'sessionStorage']) {
        Object.defineProperty(window, name, {
          get: () => {
            throw new DOMException('The operation is insecure.', 'SecurityError');
          },
        });
      }
    });
  }
  await host.join(room.final_link);
  await guest.join(room.guest_link, 'Ben');
  await host.untilHeard();
  for (const { page } of [host, guest]) {
    await page.reload();
    await page.getByRole('button', { name: 'Rejoin' }).click();
    await page.getByRole('button', { name: 'Leave' }).first().waitFor();
  }
  await host.untilHeard();
  await host.openRoomTab();
  await host.button('End for all…').waitFor();
  expect(await server.participants(room.room_id)).toBe(2);
  await closeAll([host, guest]);
});

test('the last host who leaves chooses whether the others stay', async () => {
  const room = await server.createRoom({ empty_timeout: 60 });
  const host = await Person.arrive(browser);
  const ben = await Person.arrive(browser);
  await host.join(room.final_link);
  await ben.join(room.guest_link, 'Ben');
  await host.untilHeard();
  const question = host.page.getByRole('dialog', { name: 'Leave or end the room?' });
  await host.button('Leave').first().click();
  await question.getByRole('button', { name: 'Cancel' }).click();
  await host.untilHeard();
  await host.button('Leave').first().click();
  await question.getByRole('button', { name: 'Leave' }).click();
  await host.page.getByRole('heading', { name: 'You left the room' }).waitFor();
  await ben.page.getByText('Nobody else is here now').waitFor();
  await host.button('Rejoin').click();
  await host.untilHeard();
  await host.button('Leave').first().click();
  await question.getByRole('button', { name: 'End for all' }).click();
  await host.page.getByRole('heading', { name: 'You ended the room' }).waitFor();
  await ben.page.getByRole('heading', { name: 'The room has ended' }).waitFor();
  await closeAll([host, ben], /status of 410/);
});
