import { expect, test } from 'vitest';
import { Person } from './browser';
import { browser, server, setUp } from './fixture';

setUp();

/** Records what a page writes to the console, except what is only of interest to a developer. */
function recordConsole({ page }: Person): string[] {
  const messages: string[] = [];
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) messages.push(`${message.type()}: ${message.text()}`);
  });
  page.on('pageerror', (error) => messages.push(String(error)));
  return messages;
}

async function write(person: Person, text: string): Promise<void> {
  await person.page.getByLabel('Message', { exact: true }).fill(text);
  await person.button('Send').click();
}

test.each(['audio', 'video'])('a meeting in an %s room writes no error and no warning to the console', async (type) => {
  const room = await (type === 'audio' ? server.createRoom() : server.createMeeting({}));
  const host = await Person.arrive(browser);
  const guest = await Person.arrive(browser);
  const messages = [recordConsole(host), recordConsole(guest)];
  await host.join(room.final_link);
  await guest.join(room.guest_link, 'Ben');
  await Promise.all([host.untilHeard(), guest.untilHeard()]);
  for (const person of [host, guest]) await person.button(/^Chat/).click();
  await write(guest, 'Good morning');
  await host.page.getByRole('log').getByText('Good morning').waitFor();
  await write(host, 'Good morning, Ben');
  await guest.page.getByRole('log').getByText('Good morning, Ben').waitFor();

  await guest.button('Leave').first().click();
  await guest.button('Rejoin').waitFor();
  await host.page.getByText('Everyone else has left').waitFor();
  // The second visit of the same page makes new connections.
  await guest.button('Rejoin').click();
  await Promise.all([host.untilHeard(), guest.untilHeard()]);
  for (const person of [guest, host]) await person.button('Leave').first().click();
  expect(messages).toEqual([[], []]);
  for (const person of [host, guest]) await person.close();
});
