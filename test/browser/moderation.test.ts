import type { Locator } from 'playwright-core';
import { expect, test } from 'vitest';
import { de } from '../../web/src/messages/de';
import { audible, Person, phone } from './browser';
import { browser, closeAll, server, setUp } from './fixture';

setUp();

/** Opens the list of people and the actions of one person, and returns a button of them. */
async function manage(host: Person, name: string): Promise<(action: string) => Locator> {
  const person = host.button(`Manage ${name}`);
  if ((await host.page.getByRole('heading', { name: 'People' }).count()) === 0) await host.button(/^People/).click();
  if ((await person.getAttribute('aria-expanded')) !== 'true') await person.click();
  return (action) => host.page.locator('.roster-row', { has: person }).getByRole('button', { name: action, exact: true });
}

/** Returns the seat key that a page stores, as an attacker reads it to call the server directly. */
async function seatKey(person: Person): Promise<string> {
  const request = person.page.waitForRequest(/\/seats$/);
  await person.page.reload();
  await person.button('Rejoin').click();
  return ((await request).postDataJSON() as { seat_key: string }).seat_key;
}

test('a host mutes, asks to unmute, sets roles and removes, and the affected participants see a notice', async () => {
  const room = await server.createMeeting({});
  const host = await Person.arrive(browser);
  const ben = await Person.arrive(browser, { viewport: phone });
  const chen = await Person.arrive(browser, { dark: true });
  await host.join(room.final_link);
  await ben.join(room.guest_link, 'Ben');
  await chen.join(room.guest_link, 'Chen');
  await chen.button('Mute').click();
  await host.untilHeard();

  // Muting is done by the server; the page says who did it, and how to speak again.
  const ofBen = await manage(host, 'Ben');
  await host.seen('tools-person');
  await ofBen('Mute').click();
  await ben.page.getByText('Amina muted you.').waitFor();
  await ben.button('Unmute').waitFor();
  await ben.seen('phone-light-muted-by-host');
  await host.untilSilent();

  // The notice ends by itself, and the request to unmute stays.
  await ben.page.getByText('Amina muted you.').waitFor({ state: 'detached' });
  // A request to unmute does not turn on the microphone.
  await ofBen('Ask to unmute').click();
  await host.page.getByText('Ben was asked to unmute.').waitFor();
  await ben.page.getByText('Amina asks you to unmute.').waitFor();
  await ben.seen('phone-light-asked-to-unmute');
  expect(await host.hears()).toBeLessThan(audible);
  await ben.page.locator('.dismissible').getByRole('button', { name: 'Unmute' }).click();
  await ben.page.getByText('Amina asks you to unmute.').waitFor({ state: 'detached' });
  await host.untilHeard();

  // All guests at once.
  await host.button('Mute all guests').click();
  await host.page.getByText('All guests are muted.').waitFor();
  await ben.page.getByText('Amina muted you.').waitFor();
  await host.untilSilent();
  expect(await chen.page.getByText('muted you').count()).toBe(0); // was muted before

  // A co-host can moderate guests at once, but not the host.
  const ofChen = await manage(host, 'Chen');
  await ofChen('Make co-host').click();
  await chen.page.getByText('You’re a co-host now.').waitFor();
  await chen.seen('dark-cohost');
  const byChen = await manage(chen, 'Ben');
  expect(await chen.button('Manage Amina').count()).toBe(0);
  // The keyboard cannot remove a person by mistake, because Cancel has the focus.
  await byChen('Remove…').focus();
  await chen.page.keyboard.press('Enter');
  await byChen('Cancel').waitFor();
  await chen.page.keyboard.press('Enter');
  await chen.page.keyboard.press('Enter'); // back on what was pressed
  await chen.seen('dark-tools-remove');
  await chen.page.keyboard.press('Tab');
  await chen.page.keyboard.press('Enter');
  await ben.page.getByRole('heading', { name: 'You were removed from this room' }).waitFor();
  await ben.seen('phone-light-removed');
  await host.button('Manage Ben').waitFor({ state: 'detached' });

  // A reload does not help until a host admits the guest again.
  await ben.page.reload();
  await ben.page.getByRole('heading', { name: 'You were removed from this room' }).waitFor();
  await ben.seen('phone-light-removed-again');
  await chen.page.getByRole('heading', { name: 'Removed from this room' }).waitFor();
  await chen.seen('dark-tools-removed');
  await chen.button('Admit again (Ben)').click();
  await chen.button('Admit again (Ben)').waitFor({ state: 'detached' });
  await ben.button('Try again').click();
  await ben.button('Join').click();
  await ben.button('Leave').first().waitFor();

  // She is a guest after she was removed as co-host.
  await ofChen('Remove as co-host').click();
  await chen.page.getByText('You’re a guest again.').waitFor();
  await expect.poll(() => chen.button('Mute all guests').count()).toBe(0);
  await chen.page.keyboard.press('Escape');

  await closeAll([host, ben, chen], /status of 403/);
});

test('a host locks what guests may do in a running room', async () => {
  const room = await server.createMeeting({});
  const host = await Person.arrive(browser);
  const ben = await Person.arrive(browser, { viewport: phone });
  await host.join(room.final_link);
  await ben.join(room.guest_link, 'Ben');
  await host.untilHeard();

  // By keyboard, from the list of people.
  await host.button(/^People/).click();
  await host.button('Guest permissions').focus();
  await host.page.keyboard.press('Enter');
  const may = (name: string) => host.page.getByRole('switch', { name });
  await may('Use microphone').focus();
  await host.page.keyboard.press('Space');
  await expect.poll(() => ben.button('Mute').count()).toBe(0);
  await ben.page.getByText('The host turned off guests’ microphones.').waitFor();
  await host.untilSilent();
  await may('Use camera').click();
  await expect.poll(() => ben.button(/(Start|Stop) camera/).count()).toBe(0);
  expect(await may('Use microphone').isChecked()).toBe(false);
  await host.seen('tools-locks');
  await ben.seen('phone-light-locked');

  // The lock also applies to a participant who joins later or again.
  await ben.page.reload();
  await ben.page.getByText('You can watch and listen in this room').waitFor();
  await ben.button('Rejoin').click();
  await ben.button('Leave').first().waitFor();

  // A notice names the change, and disappears when the change is undone.
  await may('Send chat messages').click();
  await ben.page.getByText('The host turned off chat for guests.').waitFor();
  await may('Send chat messages').click();
  await ben.page.getByText('The host turned off chat for guests.').waitFor({ state: 'detached' });
  expect(await ben.page.getByText('Guests can send chat messages again.').count()).toBe(0);

  // An unlocked microphone stays off until its owner turns it on.
  await may('Use microphone').click();
  await ben.button('Unmute').waitFor();
  expect(await host.hears()).toBeLessThan(audible);
  // The space bar does that, too, while it is held.
  await ben.page.keyboard.down('Space');
  await host.untilHeard();
  await ben.page.keyboard.up('Space');
  await host.untilSilent();
  await ben.button('Unmute').click();
  await host.untilHeard();

  await closeAll([host, ben]);
});

test('a guest cannot moderate, with the page or without', async () => {
  const room = await server.createMeeting({});
  const host = await Person.arrive(browser, { viewport: phone });
  const ben = await Person.arrive(browser);
  await host.join(room.final_link);
  await ben.join(room.guest_link, 'Ben');
  await ben.button(/^People/).click();
  expect(await ben.button(/^Manage/).count()).toBe(0);
  expect(await ben.button('Mute all guests').count()).toBe(0);

  const seat_key = await seatKey(ben);
  await ben.button('Leave').first().waitFor();
  const identity = await ben.page.locator('audio[data-identity]').first().getAttribute('data-identity');
  for (const [path, body] of Object.entries({
    mute: {},
    unmute: { identity },
    remove: { identity },
    readmit: { identity },
    locks: { locks: { microphone: true } },
    role: { identity, role: 'cohost' },
    people: {},
    'waiting/admit': {},
    'waiting/turn-away': { identity },
    invitations: { role: 'cohost' },
    breakouts: { names: ['Red'] },
    'breakouts/close': {},
    broadcast: { text: 'Hello' },
    move: { identity, to: 0 },
    'hand/lower': { identity },
    'hands/lower': {},
    end: {},
  })) {
    expect(await server.ask(room.room_id, path, { seat_key, ...body }), path).toMatchObject({ status: 403, code: 'not_host' });
  }

  // The server enforces a removal, also after a restart.
  await host.button('More').click();
  await host.button('People (2)').click();
  const ofBen = await manage(host, 'Ben');
  await host.seen('phone-light-tools');
  await ofBen('Remove…').click();
  await ofBen('Remove Ben').click();
  await ben.page.getByRole('heading', { name: 'You were removed from this room' }).waitFor();
  await server.down('SIGKILL');
  await server.up();
  expect(await server.ask(room.room_id, 'seats', { seat_key, name: 'Ben' })).toMatchObject({ status: 403, code: 'removed' });
  for (const person of [host, ben]) await person.close();
});

test('on a phone a notice leaves the text in sight that the connection is lost', async () => {
  const room = await server.createRoom();
  const host = await Person.arrive(browser);
  // The text is long in German.
  const ben = await Person.arrive(browser, { viewport: { width: 320, height: 640 }, locale: 'de' });
  await host.join(room.final_link);
  await ben.open(room.guest_link);
  await ben.page.getByLabel(de['lobby.name']).fill('Ben');
  await ben.button(de['lobby.join']).click();
  await ben.button(de['control.mute']).click();
  const ofBen = await manage(host, 'Ben');
  await ofBen('Ask to unmute').click();
  const notice = ben.page.locator('.toast', { has: ben.button(de['host.unmute']) });
  await notice.waitFor();
  await server.down('SIGKILL');
  try {
    const bar = ben.page.locator('.connection-lost p');
    const checkBelow = async (what: string): Promise<void> => {
      const [barBox, noticeBox] = await Promise.all([bar.boundingBox(), notice.boundingBox()]);
      expect(noticeBox?.y, what).toBeGreaterThanOrEqual((barBox?.y ?? 0) + (barBox?.height ?? Infinity));
    };
    await bar.waitFor();
    await checkBelow('the first text');
    await ben.page.locator('.connection-lost').getByText(de['room.stillTrying']).waitFor();
    await checkBelow('the long text');
    await ben.page.evaluate(() => {
      document.documentElement.style.fontSize = '200%';
    });
    await checkBelow('large text');
  } finally {
    await server.up();
  }
  await host.close();
  await ben.close();
});
