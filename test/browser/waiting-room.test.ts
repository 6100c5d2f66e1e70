import type { Locator } from 'playwright-core';
import { expect, test } from 'vitest';
import { Person, phone } from './browser';
import { browser, closeAll, server, setUp } from './fixture';
import { measured } from './measure';

setUp();

/** Opens a link and asks to join. */
async function knock(person: Person, link: string, name: string): Promise<void> {
  await person.open(link);
  await person.page.getByLabel('Your name').fill(name);
  await person.button('Ask to join').click();
  await person.page.getByText('Asking to join…').waitFor();
}

const notice = (host: Person): Locator => host.page.locator('.toast.knock');

test('guests wait until a host admits or denies them', async () => {
  server.set('locks.waiting_room=true');
  const room = await server.createMeeting({});
  const host = await Person.arrive(browser);
  const ben = await Person.arrive(browser, { viewport: phone });
  const chen = await Person.arrive(browser, { dark: true });
  const dora = await Person.arrive(browser, { viewport: phone, locale: 'ar' });
  await host.join(room.final_link);

  // The guest still sees the preview, and the participants do not see the guest.
  const seatAsked = ben.page.waitForRequest(/\/seats$/);
  await knock(ben, room.guest_link, 'Ben');
  const { seat_key } = (await seatAsked).postDataJSON() as { seat_key: string };
  await ben.page.getByText('Your microphone works.').waitFor();
  expect(await ben.page.locator('video').count()).toBe(1);
  await ben.seen('phone-light-waiting-to-be-let-in');
  await notice(host).getByText('Ben wants to join.').waitFor();
  await host.button('People (1) (1 person wants to join)').waitFor();
  await host.page.locator('p[role=status]', { hasText: 'Ben wants to join.' }).waitFor({ state: 'attached' });
  await host.seen('door-one-waits');
  expect((await server.ask(room.room_id, 'seats', { seat_key, name: 'Ben' })).status).toBe(202);
  for (const path of ['waiting/admit', 'waiting/turn-away', 'people', 'invitations']) {
    expect(await server.ask(room.room_id, path, { seat_key, identity: 'x', role: 'guest' }), path).toMatchObject({
      status: 403,
      code: 'not_in_room',
    });
  }

  await knock(chen, room.guest_link, 'Chen');
  await chen.seen('dark-waiting-to-be-let-in');
  await dora.open(room.guest_link);
  await dora.page.locator('input[autocomplete=name]').fill('Dora');
  await dora.page.locator('form button[type=submit]').click();
  await dora.page.locator('.waiting').waitFor();
  await dora.seen('phone-arabic-waiting-to-be-let-in');
  await notice(host).getByText('2 more are waiting.').waitFor();
  await host.seen('door-three-wait');

  // Ben joins automatically soon after he is admitted.
  const admitted = Date.now();
  await notice(host).getByRole('button', { name: 'Admit', exact: true }).click();
  await ben.button('Leave').first().waitFor();
  measured('joined after the host admitted them', Date.now() - admitted, 4_000);
  await notice(host).getByText('Chen wants to join.').waitFor();
  await ben.button('More').click();
  await ben.button('People (2)').click();
  await ben.page.getByRole('heading', { name: 'People' }).waitFor();
  expect(await ben.page.getByText('Chen').count()).toBe(0); // guests are told no names
  expect((await server.ask(room.room_id, 'people', { seat_key })).code).toBe('not_host');
  expect((await server.ask(room.room_id, 'waiting/admit', { seat_key })).code).toBe('not_host');
  await ben.page.keyboard.press('Escape');

  // The host admits a guest by keyboard in the list of people.
  await host.button(/^People/).click();
  // The list says the same as the notice.
  await notice(host).waitFor({ state: 'detached' });
  await host.seen('door-people');
  await host.button('Deny (Chen)').focus();
  await host.page.keyboard.press('Enter');
  await chen.page.getByRole('heading', { name: 'The host didn’t admit you' }).waitFor();
  await chen.seen('dark-turned-away');
  await host.button('Deny (Chen)').waitFor({ state: 'detached' });

  // An admitted guest returns without waiting, also after a restart of the server.
  await server.down('SIGKILL');
  await server.up();
  await ben.page.reload();
  await ben.button('Rejoin').click();
  await ben.button('Leave').first().waitFor();

  // All waiting guests join when the waiting room is turned off.
  await host.button('Guest permissions').click();
  const wait = host.page.getByRole('switch', { name: 'Waiting room' });
  await host.seen('door-switch');
  await wait.click();
  await dora.page.locator('.controls').waitFor();
  await expect.poll(() => wait.isChecked()).toBe(false);
  await host.page.keyboard.press('Escape');
  expect(await notice(host).count()).toBe(0);
  // Browsers log many messages when a server is killed. No page may call another host.
  await closeAll([host, ben, chen, dora], /./s);
});

test('a visitor who stops waiting leaves the list, and a host on a phone admits all others', async () => {
  server.set('locks.waiting_room=true');
  const room = await server.createMeeting({});
  const host = await Person.arrive(browser, { viewport: phone, dark: true });
  const ben = await Person.arrive(browser);
  const chen = await Person.arrive(browser);
  await host.join(room.final_link);
  await knock(ben, room.guest_link, 'Ben');
  await ben.seen('desktop-light-waiting-to-be-let-in');
  await notice(host).getByText('Ben wants to join.').waitFor();
  await ben.button('Stop waiting').click();
  await ben.button('Ask to join').waitFor();
  await notice(host).waitFor({ state: 'detached' });

  await ben.button('Ask to join').click();
  await knock(chen, room.guest_link, 'Chen');
  await notice(host).getByText('1 more is waiting.').waitFor();
  await host.seen('phone-dark-door');
  await notice(host).getByRole('button', { name: 'Admit all' }).click();
  for (const guest of [ben, chen]) await guest.button('Leave').first().waitFor();
  await notice(host).waitFor({ state: 'detached' });

  await closeAll([host, ben, chen]);
});

// The server lets a guest ask again two minutes after a denial.
test('a guest who comes back while the waiting room is on reads that they wait, and can stop', { timeout: 600_000 }, async () => {
  const room = await server.createMeeting({});
  const host = await Person.arrive(browser);
  const ben = await Person.arrive(browser, { viewport: phone });
  await host.join(room.final_link);
  const seatAsked = ben.page.waitForRequest(/\/seats$/);
  await ben.join(room.guest_link, 'Ben');
  const { seat_key } = (await seatAsked).postDataJSON() as { seat_key: string };
  await host.button(/^People/).click();
  await host.button('Guest permissions').click();
  await host.page.getByRole('switch', { name: 'Waiting room' }).click();
  await host.page.keyboard.press('Escape');

  // A guest who left a moment ago need not wait.
  await ben.leave();
  await expect
    .poll(async () => (await server.ask(room.room_id, 'preview', { seat_key })).waits, { timeout: 120_000, interval: 2_000 })
    .toBe(true);
  await ben.button('Rejoin').click();
  await ben.page.getByText('The host has been notified').waitFor();
  await ben.seen('phone-light-waiting-to-come-back');
  await notice(host).getByText('Ben wants to join.').waitFor();
  await ben.button('Stop waiting').click();
  await notice(host).waitFor({ state: 'detached' });

  // The host sees a guest again whom the host has denied once. The page waits until the server allows it.
  await ben.button('Ask to join').click();
  await notice(host).getByRole('button', { name: 'Deny', exact: true }).click();
  await ben.page.getByRole('heading', { name: 'The host didn’t admit you' }).waitFor();
  await ben.button('Ask to join').click({ timeout: 200_000 });
  await notice(host).getByText('Ben wants to join.').waitFor();
  await notice(host).getByRole('button', { name: 'Admit', exact: true }).click();
  await ben.button('Leave').first().waitFor();
  await ben.untilHeard();
  await closeAll([host, ben], /status of 403/);
});

test('hosts create links that work where the address alone does not', async () => {
  server.set('invitations_required=true');
  const room = await server.createMeeting({});
  const host = await Person.arrive(browser);
  await host.page.addInitScript(() => {
    Object.assign(globalThis, { shared: [] });
    navigator.share = (data) => {
      (globalThis as unknown as { shared: unknown[] }).shared.push(data?.url);
      return Promise.resolve();
    };
  });
  await host.join(room.final_link);
  await host.button('Create guest link').click();
  const link = host.page.getByLabel('Guest link');
  await link.waitFor();
  await host.seen('alone-made-link');
  const guests = await link.inputValue();
  await host.button('Share…').click();
  expect(await host.page.evaluate(() => (globalThis as unknown as { shared: unknown[] }).shared)).toEqual([guests]);
  const ben = await Person.arrive(browser, { viewport: phone });
  const chen = await Person.arrive(browser);
  await ben.join(guests, 'Ben');
  await chen.join(guests, 'Chen');

  // The sheet explains each link. The link of a co-host is for one person.
  await host.openRoomTab();
  expect(await link.inputValue()).toBe(guests);
  await host.button('Create co-host link').click();
  const cohosts = await host.page.getByLabel('Co-host link').inputValue();
  await host.seen('invite-sheet');
  const dora = await Person.arrive(browser, { viewport: phone });
  await dora.open(cohosts);
  await dora.page.getByText('You’re a co-host').waitFor();
  await dora.page.getByLabel('Your name').fill('Dora');
  await dora.button('Join').click();
  await dora.button('Leave').first().waitFor();
  await dora.openRoomTab();
  await dora.seen('phone-light-invite-sheet');
  const late = await Person.arrive(browser);
  await late.open(cohosts);
  await late.page.getByRole('heading', { name: 'You need an invitation to join this room' }).waitFor();

  // A guest cannot invite others and sees no link.
  await ben.openRoomTab();
  await ben.page.getByRole('heading', { name: 'Workshop' }).last().waitFor();
  expect(await ben.page.getByRole('heading', { name: 'Invite' }).count()).toBe(0);
  await closeAll([host, ben, chen, dora]);
  await late.close();
});

test('a removed participant can ask again, and can join after a host has readmitted them', async () => {
  const room = await server.createMeeting({});
  const host = await Person.arrive(browser);
  const ben = await Person.arrive(browser, { viewport: phone });
  await host.join(room.final_link);
  await ben.join(room.guest_link, 'Ben');
  await host.button(/^People/).click();
  await host.button('Manage Ben').click();
  await host.button('Remove…').click();
  await host.button('Remove Ben').click();
  await ben.page.getByRole('heading', { name: 'You were removed from this room' }).waitFor();
  await ben.button('Try again').click();
  await ben.page.getByText('The host hasn’t admitted you again yet.').waitFor();
  await ben.seen('phone-light-still-removed');
  await host.button('Admit again (Ben)').click();
  await host.button('Admit again (Ben)').waitFor({ state: 'detached' });
  await ben.button('Try again').click();
  expect(await ben.page.getByLabel('Your name').inputValue()).toBe('Ben');
  await ben.button('Join').click();
  await ben.button('Leave').first().waitFor();
  await closeAll([host, ben], /status of 403/);
});

test('a host in a breakout room learns who was admitted and did not come', async () => {
  server.set('locks.waiting_room=true');
  const room = await server.createMeeting({ breakouts: 1 });
  const host = await Person.arrive(browser);
  const ben = await Person.arrive(browser, { viewport: phone });
  await host.join(room.final_link);
  await host.openRoomTab();
  await host.button('Breakout rooms').click();
  await host.button('Open 1 room').click();
  await host.button('Join (Room 1)').click();
  await host.button(/you are in Room 1/).waitFor();
  await host.page.keyboard.press('Escape');

  // Chen and Dora ask without a page, so that they never join.
  await knock(ben, room.guest_link, 'Ben');
  for (const name of ['Chen', 'Dora']) {
    expect((await server.ask(room.room_id, 'seats', { seat_key: name.padEnd(43, 'x'), name })).status).toBe(202);
  }
  await notice(host).getByText('2 more are waiting.').waitFor();
  await notice(host).getByRole('button', { name: 'Admit all' }).click();
  await ben.button('Leave').first().waitFor();
  for (const name of ['Chen', 'Dora']) await host.page.getByText(`${name} was admitted but hasn’t joined yet.`).waitFor();
  expect(await host.page.getByText('Ben was admitted but hasn’t joined yet.').count()).toBe(0);
  await closeAll([host, ben]);
});
