import { expect, test } from 'vitest';
import { launch, networkProcess, Person, phone } from '../browser';
import { browser, server, setUp } from '../fixture';

setUp();

test('a lost connection is shown and comes back by itself, also after the server was killed', async () => {
  const own = await launch();
  const room = await server.createRoom({ empty_timeout: 60 });
  const host = await Person.arrive(browser);
  const guest = await Person.arrive(own, { viewport: phone });
  await host.join(room.final_link);
  await guest.join(room.guest_link, 'Ben');
  await Promise.all([host.untilHeard(), guest.untilHeard()]);
  for (const { page } of [host, guest]) await page.evaluate(() => Object.assign(globalThis, { samePage: true }));

  // No packet passes, and nothing tells the browser.
  const network = await networkProcess(own);
  process.kill(network, 'SIGSTOP');
  try {
    await guest.page.getByRole('status').getByText('Connection lost, reconnecting…').waitFor({ timeout: 60_000 });
    await guest.untilSilent();
    expect(await host.page.getByText('Nobody else is here now').count()).toBe(0);
  } finally {
    process.kill(network, 'SIGCONT');
  }
  await Promise.all([guest.untilHeard(90_000), host.untilHeard(90_000)]);

  await server.down('SIGKILL');
  await server.up();
  await Promise.all([guest.untilHeard(90_000), host.untilHeard(90_000)]);
  for (const { page } of [host, guest]) {
    await page
      .getByText(/econnecting/)
      .first()
      .waitFor({ state: 'detached' });
    expect(await page.evaluate(() => 'samePage' in globalThis)).toBe(true);
  }
  expect(await host.page.locator('audio[data-identity]').count()).toBe(1);
  expect(await server.endReason(room.room_id)).toBeUndefined();
  for (const person of [host, guest]) await person.close();
  await own.close();
});
