import { expect, test } from 'vitest';
import { Person, phone } from '../browser';
import { browser, closeAll, server, setUp } from '../fixture';

setUp();

test('people write to each other, and raise and lower hands', async () => {
  const room = await server.createRoom();
  const host = await Person.arrive(browser);
  const guest = await Person.arrive(browser, { viewport: phone });
  await host.join(room.final_link);
  await guest.join(room.guest_link, 'Ben');
  await Promise.all([host.untilHeard(), guest.untilHeard()]);

  const log = (person: Person) => person.page.getByRole('log');
  const write = async (person: Person, text: string): Promise<void> => {
    await person.page.getByLabel('Message', { exact: true }).fill(text);
    await person.button('Send').click();
  };
  await host.button('Chat').click();
  await write(host, 'Read https://example.org/agenda. <b>Not bold</b>');
  expect(await log(host).getByRole('link').getAttribute('href')).toBe('https://example.org/agenda');
  expect(await log(host).locator('b').count()).toBe(0);
  await guest.button('Chat (1 unread message)').click();
  await log(guest).getByText('Not bold').waitFor();
  await write(guest, 'Thank you');
  await log(host).getByText('Thank you').waitFor();
  await guest.page.keyboard.press('Escape');

  await guest.button('Raise hand').click();
  await host.button('Ben raised a hand').click();
  const hands = host.page.getByRole('list', { name: 'Raised hands' }).getByRole('listitem');
  await hands.getByText('Ben').waitFor();
  await host.button('Lower Ben’s hand').click();
  await guest.button('Raise hand').waitFor();
  await hands.waitFor({ state: 'detached' });
  await closeAll([host, guest]);
});
