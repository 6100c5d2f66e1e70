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

async function openChat(person: Person): Promise<void> {
  await person.button(/^Chat/).click();
  await log(person).waitFor();
}

async function meet(looks: { viewport: { width: number; height: number }; dark?: boolean }[]): Promise<Person[]> {
  const room = await server.createMeeting({ breakouts: 2 });
  const people: Person[] = [];
  for (const [i, look] of looks.entries()) {
    const person = await Person.arrive(browser, look);
    await person.recordReadOut();
    await person.join(i === 0 ? room.final_link : room.guest_link, i === 0 ? undefined : ['Ben', 'Chen'][i - 1]);
    people.push(person);
  }
  for (const person of people) await expect.poll(() => person.page.locator('.tile').count()).toBe(looks.length);
  return people;
}

// Uses the dark theme, because accessibility.test.ts shows the chat in the light one.
describe('in the dark', () => {
  test('people write, reply, and see unread messages', async () => {
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
    await ben.button('Chat (1 unread message)').waitFor();
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
    await log(ben).waitFor({ state: 'detached' });

    // The control shows that the chat is open, and the focus returns to it with Escape and with the button.
    const control = host.button('Chat');
    const state = (): Promise<unknown[]> => control.evaluate((it) => [it.getAttribute('aria-expanded'), it === document.activeElement]);
    expect(await state()).toEqual(['true', false]);
    await field(host).fill('A draft');
    await field(host).press('Escape');
    await expect.poll(state).toEqual(['false', true]);
    await control.press('Enter');
    expect(await field(host).evaluate((it) => it === document.activeElement)).toBe(true);
    expect(await field(host).inputValue()).toBe('A draft');
    await host.button('Close').click();
    await expect.poll(state).toEqual(['false', true]);

    // The other controls that open something show it, too.
    const people = host.button(/^People/);
    const reactions = host.button('Reactions');
    const more = host.button(/^More/);
    const opens = (it: Locator): Promise<unknown[]> =>
      it.evaluate((control) => ['aria-haspopup', 'aria-expanded'].map((name) => control.getAttribute(name)));
    expect([await opens(people), await opens(reactions), await opens(more)]).toEqual([
      [null, 'false'],
      ['dialog', 'false'],
      ['dialog', 'false'],
    ]);
    await people.click();
    expect(await opens(people)).toEqual([null, 'true']);
    await reactions.click();
    expect(await opens(reactions)).toEqual(['dialog', 'true']);
    await host.page.keyboard.press('Escape');
    await host.button('Close').click();

    // The tabs have the keys that tabs have.
    await host.page.keyboard.press('p');
    const tab = (name: string): Locator => host.page.getByRole('tab', { name, selected: true });
    await tab('People').waitFor();
    expect(await tab('People').evaluate((it) => it === document.activeElement)).toBe(true);
    await host.page.keyboard.press('ArrowLeft');
    await tab('Chat').waitFor();
    expect(await tab('Chat').evaluate((it) => it === document.activeElement)).toBe(true);
    await host.page.keyboard.press('End');
    await tab('Room').waitFor();
    await host.page.keyboard.press('Escape');
    await expect.poll(() => host.page.evaluate(() => document.activeElement?.textContent)).toContain('More');
    await closeAll([host, ben]);
  });

  test('hands are in order, and reactions are seen for a moment', async () => {
    const [host, ben, chen] = (await meet([
      { viewport: desktop, dark: true },
      { viewport: phone, dark: true },
      { viewport: desktop, dark: true },
    ])) as [Person, Person, Person];
    await chen.button('Reactions').click();
    await chen.seen(`desktop-dark-react`);
    await chen.button('Raise hand').click();
    await chen.button('Lower hand').waitFor();
    await host.button('Chen raised a hand').waitFor();
    await ben.button('Raise hand').click();
    await host.button('2 hands raised').click();
    await expect.poll(() => host.readOut()).toContain('Chen raised a hand');
    await expect.poll(() => ben.readOut()).toContain('Your hand is raised, number 2.');
    // The control is lit, and nothing covers the faces.
    await ben.page.locator('.control.on', { hasText: 'Lower hand' }).waitFor();
    expect(await ben.page.locator('.toast', { hasText: 'hand' }).count()).toBe(0);
    await ben.seen(`phone-dark-hand`);
    await host.seen(`desktop-dark-hands`);

    const order = host.page.getByRole('list', { name: 'Raised hands' }).getByRole('listitem');
    await expect.poll(() => order.locator('bdi').allTextContents()).toEqual(['Chen', 'Ben']);
    await order
      .first()
      .getByText(/now|seconds ago/)
      .waitFor();
    await host.seen(`desktop-dark-hands-list`);
    await host.button('Lower Chen’s hand').click();
    await chen.button('Raise hand').waitFor();
    await expect.poll(() => chen.readOut()).toContain('Your hand is lowered.');
    await expect.poll(() => order.count()).toBe(1);

    // The popover stays open, and no reaction is lost.
    await chen.button('Reactions').click();
    await chen.button('Clapping').click();
    for (let i = 0; i < 3; i++) await chen.button('Thumbs up').click();
    await host.page.locator('.tile', { hasText: 'Chen' }).getByText('×3').waitFor();
    await chen.page.keyboard.press('Escape');
    expect(await chen.button('Thumbs up').count()).toBe(0);
    await chen.page.keyboard.press('4');
    for (const person of [host, ben, chen])
      await person.page
        .locator('.tile', { hasText: person === chen ? 'You' : 'Chen' })
        .locator('[data-reaction=clapping]')
        .waitFor();
    await host.picture(`desktop-dark-reaction`);
    await expect.poll(() => host.readOut()).toMatch(/Chen: Clapping|\d reactions/);
    await expect.poll(() => host.page.locator('[data-reaction]').count()).toBe(0);

    // A participant who leaves lowers the hand.
    await ben.button('Leave').first().click();
    await order.waitFor({ state: 'detached' });
    await closeAll([host, ben, chen]);
  });
});

test('the messages stay when a participant moves to another room, and when the server restarts', async () => {
  const [host, ben, chen] = (await meet([{ viewport: desktop }, { viewport: desktop }, { viewport: phone }])) as [Person, Person, Person];
  for (const person of [host, ben]) await openChat(person);
  await write(host, 'In the main room');
  await log(ben).getByText('In the main room').waitFor();
  await chen.button('Chat (1 unread message)').waitFor();

  await host.openRoomTab();
  await host.button('Breakout rooms').click();
  await host.page.getByLabel('Room of Ben').selectOption('Room 1');
  await host.button('Open 2 rooms').click();
  await log(ben).getByText('You moved to Room 1').waitFor();
  await host.page.keyboard.press('Escape');
  await host.page.getByRole('tab', { name: 'Chat' }).click();
  await write(ben, 'Only in Room 1');
  await write(host, 'Not in Room 1');
  await chen.button('Chat (2 unread messages)').waitFor();
  await log(ben).getByText('In the main room').waitFor();
  expect(await log(ben).getByText('Not in Room 1').count()).toBe(0);
  await ben.seen('desktop-light-chat-breakout');
  await ben.button(/you are in Room 1/).click();
  await ben.button('Go back (Main room)').click();
  await log(ben).getByText('You moved to Main room').waitFor();
  await ben.page.keyboard.press('Escape');

  await chen.button('Chat (2 unread messages)').waitFor();
  await chen.button('Raise hand').click();
  await host.button('Chen raised a hand').waitFor();
  await server.down('SIGKILL');
  await field(ben).fill('After the storm');
  await server.up();
  await expect.poll(() => ben.page.getByText(/Reconnecting|You can send this when/).count()).toBe(0);
  for (const person of [host, ben, chen]) await person.untilHeard();
  // The hand is still up.
  await chen.button('Lower hand').waitFor();
  await host.page.locator('.tile', { hasText: 'Chen' }).locator('.hand-badge').waitFor();
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

test('a guest without the permission to write can read, and a room without chat has no chat button', async () => {
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
  await ben.button('Reactions').click();
  await ben.button('Surprised').click();
  await host.page.locator('[data-reaction=surprised]').waitFor();
  await host.picture('desktop-light-reaction-and-chat');
  await closeAll([host, ben]);

  server.set('features.chat=false', 'locks.chat=');
  const [alone, guest] = (await meet([{ viewport: desktop }, { viewport: phone }])) as [Person, Person];
  await alone.button('Reactions').waitFor();
  expect(await alone.button(/^Chat/).count()).toBe(0);
  await guest.button('Raise hand').waitFor();
  expect(await guest.button(/^Chat/).count()).toBe(0);
  await closeAll([alone, guest]);
});

test.each(['audio', 'video'])('joining, writing and leaving log nothing: %s', async (type) => {
  const room = await (type === 'audio' ? server.createRoom() : server.createMeeting({}));
  const host = await Person.arrive(browser);
  const ben = await Person.arrive(browser, { viewport: phone });
  await host.join(room.final_link);
  await ben.join(room.guest_link, 'Ben');
  await Promise.all([host.untilHeard(), ben.untilHeard()]);
  for (const person of [host, ben]) await openChat(person);
  await write(host, 'Welcome');
  await log(ben).getByText('Welcome').waitFor();
  await write(ben, 'Thank you');
  await log(host).getByText('Thank you').waitFor();
  await ben.page.keyboard.press('Escape');
  await ben.button('Leave').first().click();
  await ben.page.getByRole('heading', { name: 'You left the room' }).waitFor();
  await host.page.getByText('Nobody else is here now').waitFor();
  await host.leave();
  // LiveKit warns if media is not connected four seconds after joining, as on a busy machine.
  const unexpected = (text: string): boolean => !text.startsWith('detected connection state mismatch');
  for (const { warnings } of [host, ben]) expect(warnings.filter(unexpected)).toEqual([]);
  for (const { complaints } of [host, ben]) expect(complaints).toEqual([]);
  const serverWarnings = server.log.split('\n').filter((line) => /level=(WARN|ERROR)/.test(line));
  expect(serverWarnings.filter((line) => line.includes(room.room_id))).toEqual([]);
  await closeAll([host, ben]);
});
