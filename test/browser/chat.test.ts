import type { Locator } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { desktop, Person, phone } from './browser';
import { browser, closeAll, server, setUp } from './fixture';

setUp();

const field = (person: Person): Locator => person.page.getByLabel('Message', { exact: true });
const log = (person: Person): Locator => person.page.getByRole('log');

async function write(person: Person, text: string): Promise<void> {
  await field(person).fill(text);
  await person.button('Send').click();
  await log(person)
    .getByText(text.split('\n')[0] ?? '')
    .last()
    .waitFor();
}

/** Opens the chat, on a phone by way of the sheet. */
async function openChat(person: Person): Promise<void> {
  const direct = person.button(/^Chat/);
  if (!(await direct.isVisible())) await person.button(/^More/).click();
  await direct.click();
  await log(person).waitFor();
}

async function meet(looks: { viewport: { width: number; height: number }; dark?: boolean }[]): Promise<Person[]> {
  const room = await server.createMeeting({ breakouts: 2 });
  const people: Person[] = [];
  for (const [i, look] of looks.entries()) {
    const person = await Person.arrive(browser, look);
    await person.noteWhatIsReadOut();
    await person.join(i === 0 ? room.final_link : room.guest_link, i === 0 ? undefined : ['Ben', 'Chen'][i - 1]);
    people.push(person);
  }
  for (const person of people) await expect.poll(() => person.page.locator('.tile').count()).toBe(looks.length);
  return people;
}

// Uses the dark theme, because looks.test.ts shows the chat in the light one.
describe('in the dark', () => {
  test('people write, answer, and see what they have not read', async () => {
    const [host, ben] = (await meet([
      { viewport: desktop, dark: true },
      { viewport: phone, dark: true },
    ])) as [Person, Person];
    await openChat(host);
    await write(host, 'Read https://example.org/a_(b). <b>Not bold</b>\njavascript:alert(1)');
    const link = log(host).getByRole('link');
    expect(await link.count()).toBe(1);
    expect(await link.evaluate((a: HTMLAnchorElement) => [a.href, a.target, a.rel, a.text])).toEqual([
      'https://example.org/a_(b)',
      '_blank',
      'noopener noreferrer',
      'https://example.org/a_(b)',
    ]);
    expect(await log(host).locator('b').count()).toBe(0);

    // A participant with a closed chat sees the number of unread messages, and a screen reader says the text.
    await ben.button('More (1 unread message)').waitFor();
    await expect.poll(() => ben.readOut()).toContain('Amina writes: Read https://example.org/a_(b).');
    await ben.seen(`phone-dark-chat-unread`);
    await openChat(ben);
    await log(ben).getByText('Not bold').waitFor();
    await ben.button(/^Reply to Amina/).click();
    await write(ben, 'Thank you');
    await log(host).locator('.chat-quote').getByText('You: Read https').waitFor();
    await log(host).getByText('Ben', { exact: true }).waitFor();
    await ben.seen(`phone-dark-chat`);
    await host.seen(`desktop-dark-chat`);

    // The page shows that a message is too long before it is sent.
    await field(ben).fill('x'.repeat(2_003));
    await ben.page.getByText('This message is 3 characters too long.').waitFor();
    await field(ben).press('Enter');
    await ben.seen(`phone-dark-chat-long`);
    expect(await log(ben).getByText('xxx').count()).toBe(0);
    await field(ben).fill('');

    await ben.page.keyboard.press('Escape');
    await host.button('Close chat').click();
    expect(await host.page.evaluate(() => document.activeElement?.textContent)).toContain('Chat');
    await ben.button('More').waitFor();
    await closeAll([host, ben]);
  });

  test('hands are in order, and reactions are seen for a moment', async () => {
    const [host, ben, chen] = (await meet([
      { viewport: desktop, dark: true },
      { viewport: phone, dark: true },
      { viewport: desktop, dark: true },
    ])) as [Person, Person, Person];
    await chen.button('React').click();
    await chen.seen(`desktop-dark-react`);
    await chen.button('Raise hand').click();
    await chen.button('Hand raised · Lower').waitFor();
    await ben.button('More').click();
    await ben.seen(`phone-dark-more-react`);
    await ben.button('Raise hand').click();
    await host.button('2 hands raised').waitFor();
    await expect.poll(() => host.readOut()).toContain('Chen raised a hand');
    await expect.poll(() => ben.readOut()).toContain('Your hand is raised, number 2.');
    await ben.seen(`phone-dark-hand`);
    await host.seen(`desktop-dark-hands`);

    await host.button('2 hands raised').click();
    const order = host.page.getByRole('list', { name: 'Raised hands' }).getByRole('listitem');
    await expect.poll(() => order.allTextContents()).toEqual(['1Chen Lower', '2Ben Lower']);
    await host.seen(`desktop-dark-hands-list`);
    await host.button('Lower Chen’s hand').click();
    await chen.button('Hand raised · Lower').waitFor({ state: 'detached' });
    await expect.poll(() => chen.readOut()).toContain('Your hand is lowered.');
    await expect.poll(() => order.count()).toBe(1);
    await host.page.keyboard.press('Escape');

    await chen.button('React').click();
    await chen.button('Clapping').click();
    for (const person of [host, ben, chen])
      await person.page
        .locator('.tile', { hasText: person === chen ? 'You' : 'Chen' })
        .locator('[data-reaction=clapping]')
        .waitFor();
    await host.picture(`desktop-dark-reaction`);
    await expect.poll(() => host.readOut()).toContain('Chen: Clapping');
    await host.page.locator('[data-reaction]').waitFor({ state: 'detached' });

    // A participant who leaves lowers the hand.
    await ben.button('Leave').first().click();
    await host.button(/raised a hand/).waitFor({ state: 'detached' });
    await closeAll([host, ben, chen]);
  });
});

test('what was read stays when the page moves or comes back', async () => {
  const [host, ben, chen] = (await meet([{ viewport: desktop }, { viewport: desktop }, { viewport: phone }])) as [Person, Person, Person];
  for (const person of [host, ben]) await openChat(person);
  await write(host, 'In the main room');
  await log(ben).getByText('In the main room').waitFor();
  await chen.button('More (1 unread message)').waitFor();

  await host.button('More').click();
  await host.button('Breakout rooms').click();
  await host.page.getByLabel('Room of Ben').selectOption('Room 1');
  await host.button('Open 2 rooms').click();
  await log(ben).getByText('You moved to Room 1').waitFor();
  await host.page.keyboard.press('Escape');
  await write(ben, 'Only in Room 1');
  await write(host, 'Not in Room 1');
  await chen.button('More (2 unread messages)').waitFor();
  await log(ben).getByText('In the main room').waitFor();
  expect(await log(ben).getByText('Not in Room 1').count()).toBe(0);
  await ben.seen('desktop-light-chat-breakout');
  await ben.button(/you are in Room 1/).click();
  await ben.button('Go back (Main room)').click();
  await log(ben).getByText('You moved to Main room').waitFor();
  await ben.page.keyboard.press('Escape');

  await chen.button('More (2 unread messages)').click();
  await chen.button('Raise hand').click();
  await host.button('Chen raised a hand').waitFor();
  await server.down('SIGKILL');
  await field(ben).fill('After the storm');
  await server.up();
  await expect.poll(() => ben.page.getByText(/Reconnecting|You can send this when/).count(), { timeout: 30_000 }).toBe(0);
  for (const person of [host, ben, chen]) await person.untilHeard(30_000);
  // The hand is still up.
  await chen.button('Hand raised · Lower').waitFor();
  await host.button('Chen raised a hand').waitFor();
  await ben.button('Send').click();
  await log(host).getByText('After the storm').waitFor();
  for (const text of ['In the main room', 'Only in Room 1', 'After the storm']) expect(await log(ben).getByText(text).count()).toBe(1);

  // A participant who reads older messages stays there, and the page announces new ones.
  for (let i = 1; i <= 15; i++) await write(host, `Line ${i}\n\nof a long talk`);
  await log(ben).getByText('Line 15').waitFor();
  await log(ben).evaluate((element) => (element.scrollTop = 0));
  await write(host, 'Line 16');
  await ben.button('1 new message').waitFor();
  expect(await log(ben).evaluate((element) => element.scrollTop)).toBe(0);
  await ben.button('1 new message').click();
  await ben.button('1 new message').waitFor({ state: 'detached' });
  expect(await log(ben).evaluate((element) => element.scrollHeight - element.scrollTop - element.clientHeight)).toBeLessThan(2);
  for (const person of [host, ben, chen]) await person.close();
});

test('who may not write reads; where there is no chat, there is no button', async () => {
  server.set('locks.chat=true');
  const [host, ben] = (await meet([{ viewport: desktop }, { viewport: { width: 700, height: 900 }, dark: true }])) as [Person, Person];
  await openChat(host);
  await write(host, 'مرحبا https://example.org/مرحبا');
  await ben.button('Chat (1 unread message)').waitFor();
  await ben.seen('tablet-dark-controls');
  await openChat(ben);
  await ben.page.getByText('You can read the chat.').waitFor();
  for (const offer of [field(ben), ben.button('Send'), ben.button(/^Reply to/)]) expect(await offer.count()).toBe(0);
  await ben.seen('tablet-dark-chat-locked');
  await ben.button('Close').click();
  // A participant with a locked chat can still send reactions.
  await ben.button('React').click();
  await ben.button('Surprised').click();
  await host.page.locator('[data-reaction=surprised]').waitFor();
  await host.picture('desktop-light-reaction-and-chat');
  await closeAll([host, ben]);

  server.set('features.chat=false', 'locks.chat=false');
  const [alone, guest] = (await meet([{ viewport: desktop }, { viewport: phone }])) as [Person, Person];
  server.set('features.chat=true');
  await alone.button('React').waitFor();
  expect(await alone.button(/^Chat/).count()).toBe(0);
  await guest.button('More').click();
  await guest.button('Raise hand').waitFor();
  expect(await guest.button(/^Chat/).count()).toBe(0);
  await closeAll([alone, guest]);
});
