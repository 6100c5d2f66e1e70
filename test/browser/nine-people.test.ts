import { setTimeout as pause } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { networkProcess, Person, phone } from './browser';
import { browser, server, setUp } from './fixture';

// One picture a second: nine pages share the machine with the server.
setUp({ media: ['--use-fake-device-for-media-stream=fps=1', '--use-fake-ui-for-media-stream'] });

test('nine people who share, mute, lose the network, reload and use breakout rooms meet no limit', async () => {
  const room = await server.createMeeting({ breakouts: 2 });
  const host = await Person.arrive(browser, { smallCamera: true });
  await host.join(room.final_link);
  const names = ['Ben', 'Chen', 'Dilara', 'Emil', 'Farah', 'Goran', 'Hana', 'Ivo'];
  const guests: Person[] = [];
  for (const name of names) {
    const guest = await Person.arrive(browser, { smallCamera: true, viewport: phone });
    await guest.open(room.guest_link);
    await guest.page.getByLabel('Your name').fill(name);
    // Two cameras are enough for the machine.
    if (guests.length > 0) await guest.button('Camera').first().click();
    await guest.button('Join').click();
    await guest.button('Leave').first().waitFor();
    guests.push(guest);
  }
  const [ben] = guests as [Person];
  const heard = () => Promise.all([host.untilHeard(120_000), ben.untilHeard(120_000)]);
  await heard();

  for (let round = 0; round < 3; round++) {
    await host.button('Share screen').click();
    await ben.page.locator('.share video').waitFor();
    await host.button('Stop sharing').click();
    await ben.page.locator('.share video').waitFor({ state: 'detached' });
  }
  for (const guest of guests.slice(0, 4)) {
    await guest.button('Mute').first().click();
    await guest.button('Unmute').first().click();
  }

  // Longer than LiveKit keeps a connection, so that all nine join again at the same time.
  const network = await networkProcess(browser);
  process.kill(network, 'SIGSTOP');
  try {
    await pause(15_000);
  } finally {
    process.kill(network, 'SIGCONT');
  }
  await heard();
  await ben.page.reload();
  await ben.button('Rejoin').click();
  await ben.button('Leave').first().waitFor();

  await host.openRoomTab();
  await host.button('Breakout rooms').click();
  for (const [i, name] of names.entries()) await host.page.getByLabel(`Room of ${name}`).selectOption({ index: 1 + (i % 2) });
  await host.button('Open 2 rooms').click();
  for (const guest of guests) await guest.button(/you are in/).waitFor();
  await host.button('Close all breakout rooms').click();
  for (const guest of guests) await expect.poll(() => guest.button(/you are in/).count()).toBe(0);
  await heard();

  expect(server.log.match(/^.*msg=refused.*$/gm) ?? [], 'refusals that an operator sees').toEqual([]);
  for (const person of [host, ...guests]) await person.close();
}, 600_000);
