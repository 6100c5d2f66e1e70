import { expect, test } from 'vitest';
import { Person, phone } from '../browser';
import { browser, closeAll, server, setUp } from '../fixture';

setUp();

test('guests wait until the host admits or denies them', async () => {
  server.set('locks.waiting_room=true');
  const room = await server.createRoom();
  const host = await Person.arrive(browser);
  const ben = await Person.arrive(browser, { viewport: phone });
  const chen = await Person.arrive(browser);
  // The host comes later, and the pages of those who are early say so.
  await chen.open(room.guest_link);
  await chen.page.getByText('Nobody is here now').waitFor();
  await ben.open(room.guest_link);
  await ben.page.getByLabel('Your name').fill('Ben');
  await ben.button('Ask to join').click();
  await ben.page.getByText('No host is here now.').waitFor();
  expect(await ben.page.getByText('Nobody is here now').count(), 'what was known before asking').toBe(0);
  await host.join(room.final_link);
  await ben.page.getByText('The host has been notified').waitFor();
  await chen.page.getByText('1 person is here · A host is here and can admit you.').waitFor();
  const notice = host.page.locator('.toast.knock');
  const ask = async (person: Person, name: string): Promise<void> => {
    await person.open(room.guest_link);
    await person.page.getByLabel('Your name').fill(name);
    await person.button('Ask to join').click();
    await notice.getByText(`${name} wants to join.`).waitFor();
  };

  // A page that is closed no longer waits.
  await notice.getByText('Ben wants to join.').waitFor();
  await ben.open('about:blank');
  await notice.waitFor({ state: 'detached' });
  await ask(ben, 'Ben');
  await ben.page.getByText('Waiting for the host…').waitFor();
  expect(await server.participants(room.room_id)).toBe(1);
  await notice.getByRole('button', { name: 'Admit', exact: true }).click();
  await Promise.all([ben.untilHeard(), host.untilHeard()]);

  await ask(chen, 'Chen');
  await notice.getByRole('button', { name: 'Deny', exact: true }).click();
  await chen.page.getByRole('heading', { name: 'The host didn’t admit you' }).waitFor();
  await expect.poll(() => server.participants(room.room_id)).toBe(2);
  await closeAll([host, ben, chen], /status of 403/);
});

test('a guest who is early waits for the start and joins automatically', async () => {
  const guest = await Person.arrive(browser, { viewport: phone });
  await guest.open(`${server.url}/`); // so that the browser has started and a busy machine is early, too
  const start = new Date(Date.now() + 20_000);
  const room = await server.schedule(start);
  await guest.open(room.guest_link);
  await guest.page.getByLabel('Your name').fill('Ben');
  await guest.button('Join when it opens').click();
  await guest.button('Leave').first().waitFor();
  expect(Date.now()).toBeGreaterThanOrEqual(start.getTime());
  expect(await server.participants(room.room_id)).toBe(1);
  await closeAll([guest]);
});
