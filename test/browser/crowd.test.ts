import { expect, test } from 'vitest';
import { desktop, networkProcess, Person, phone } from './browser';
import { browser, closeAll, server, setUp } from './fixture';

setUp();

const names = ['Ben', 'Chen', 'Dilara', 'Emil', 'Farah', 'Goran', 'Hana', 'Ivo'];

test('nine people who talk, share, lose the connection and use breakout rooms meet no limit', async () => {
  const room = await server.createMeeting({ breakouts: 2 });
  const people: Person[] = [];
  for (const name of ['Amina', ...names]) {
    const person = await Person.arrive(browser, { smallCamera: true, viewport: people.length % 2 ? phone : desktop });
    await person.join(name === 'Amina' ? room.final_link : room.guest_link, name === 'Amina' ? undefined : name);
    people.push(person);
  }
  const [host, ben] = people as [Person, Person];
  await Promise.all([host.untilHeard(), ben.untilHeard()]);

  // Screens are shared again and again, which opens new sources each time.
  for (let round = 0; round < 5; round++) {
    await host.button('Share screen').click();
    await ben.page.locator('.share video').waitFor();
    await host.button('Stop sharing').click();
    await ben.page.locator('.share video').waitFor({ state: 'detached' });
  }
  for (const person of people.slice(1, 5)) {
    await person.button('Mute').first().click();
    await person.button('Unmute').first().click();
  }

  // All lose the connection at once. Then the numbers of all packets jump.
  const network = await networkProcess(browser);
  process.kill(network, 'SIGSTOP');
  await new Promise((resolve) => setTimeout(resolve, 15_000)); // as long as the network is away
  process.kill(network, 'SIGCONT');
  await Promise.all([host.untilHeard(90_000), ben.untilHeard(90_000)]);

  await host.openRoomTab();
  await host.button('Breakout rooms').click();
  for (const [n, name] of names.entries()) {
    await host.page.getByLabel(`Room of ${name}`).selectOption({ index: 1 + (n % 2) });
  }
  await host.button('Open 2 rooms').click();
  for (const guest of people.slice(1)) await guest.button(/you are in/).waitFor();
  await host.button('Close all breakout rooms').click();
  for (const guest of people.slice(1)) await expect.poll(() => guest.button(/you are in/).count()).toBe(0);
  await Promise.all([host.untilHeard(90_000), ben.untilHeard(90_000)]);
  await closeAll(people, /WebSocket|websocket|Failed to load resource|net::ERR/);
  expect(server.log.match(/^.*msg=(refused|"participant disconnected").*$/gm) ?? []).toEqual([]);
});
