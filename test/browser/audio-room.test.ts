import { describe, expect, test } from 'vitest';
import { audible, Person, phone } from './browser';
import { browser, closeAll, server, setUp } from './fixture';
import { measured } from './measure';

setUp();

describe('two people in a quick audio room', () => {
  test('open the links, type a name and hear each other', async () => {
    const room = await server.createRoom({ max_participants: 2, empty_timeout: 2 });
    const host = await Person.arrive(browser);
    const guest = await Person.arrive(browser, { viewport: phone });

    // The host's name is filled in; the guest writes one.
    await host.join(room.final_link);
    await guest.join(room.guest_link, 'Ben');
    const [a, b] = await Promise.all([host.untilHeard(), guest.untilHeard()]);
    console.log(`the first sound was measured ${a} and ${b} ms after both were in`);

    // The page shows the participants and the host.
    await host.page.getByText('Ben').first().waitFor();
    await guest.page.getByText('Amina').first().waitFor();

    // A muted person is not heard, and heard again afterwards.
    await guest.button('Mute').click();
    await guest.button('Unmute').waitFor();
    await expect.poll(() => host.hears()).toBeLessThan(audible / 10);
    await guest.button('Unmute').click();
    await host.untilHeard();

    // A third participant exceeds max_participants and sees the reason.
    const third = await Person.arrive(browser);
    await third.open(room.guest_link);
    await third.page.getByLabel('Your name').fill('Chen');
    await third.button('Join').click();
    await third.page.getByRole('heading', { name: 'This room is full' }).waitFor();
    await third.page.getByText('All seats are taken (2 of 2).').waitFor();
    await third.accessible('the full room');
    await third.picture('full');

    // One leaves, and the third gets the seat.
    await guest.button('Leave').first().click();
    await guest.page.getByRole('heading', { name: 'You left the room' }).waitFor();
    await third.page.getByText('A seat is free now. Press Join.').waitFor();
    await guest.accessible('after leaving');
    await guest.picture('left-phone');
    await third.button('Join').click();
    await third.untilHeard();

    // The one who left comes back, and waits for a seat like anybody else.
    let previews = 0;
    guest.page.on('response', (response) => {
      if (response.url().endsWith('/preview')) previews++;
    });
    await guest.button('Rejoin').click();
    await guest.page.getByRole('heading', { name: 'This room is full' }).waitFor();
    previews = 0;
    await expect.poll(() => previews).toBeGreaterThan(1);
    await guest.page.getByRole('heading', { name: 'This room is full' }).waitFor();
    await third.button('Leave').first().click();
    await third.page.getByRole('heading', { name: 'You left the room' }).waitFor();
    await third.close();
    await guest.page.getByText('A seat is free now. Press Join.').waitFor();
    await expect.poll(() => guest.page.title()).toBe('A seat is free now. Press Join. · Standup');

    // The last one leaves, and the room ends after empty_timeout.
    expect(await server.endReason(room.room_id)).toBeUndefined();
    await host.button('Leave').first().click();
    await expect.poll(() => server.endReason(room.room_id)).toBe('empty_timeout');
    await guest.open(room.guest_link);
    await guest.page.getByRole('heading', { name: 'This room has ended' }).waitFor();
    await guest.accessible('the ended room');

    await closeAll([host, guest], /410|409/);
  });

  test('hear each other again after the server was killed, without touching the page', async () => {
    const room = await server.createRoom({ empty_timeout: 5 });
    const host = await Person.arrive(browser);
    const guest = await Person.arrive(browser);
    await host.join(room.final_link);
    await guest.join(room.guest_link, 'Ben');
    await Promise.all([host.untilHeard(), guest.untilHeard()]);

    await server.down('SIGKILL');
    await new Promise((done) => setTimeout(done, 1500));
    await server.up();
    const restarted = Date.now();
    await Promise.all([host.untilHeard(), guest.untilHeard()]);
    console.log(`heard again ${Date.now() - restarted} ms after the restart`);

    // Still the same people in the same room, and the host still is host.
    await guest.page.getByText('Amina').first().waitFor();
    expect(await server.endReason(room.room_id)).toBeUndefined();
    await host.close();
    await guest.close();
  });

  test('hear each other again after the service alone has crashed, without touching the page', async () => {
    const room = await server.createRoom({ empty_timeout: 5 });
    const host = await Person.arrive(browser);
    const guest = await Person.arrive(browser, { viewport: phone });
    await host.join(room.final_link);
    await guest.join(room.guest_link, 'Ben');
    await Promise.all([host.untilHeard(), guest.untilHeard()]);

    const before = [...(await host.tracks()), ...(await guest.tracks())];
    expect(before).toHaveLength(2);
    server.crash();
    const crashed = Date.now();
    // The sound is away for less than the pause between two beeps, so only the tracks tell.
    const isNew = (tracks: string[]): boolean => tracks.length === 1 && tracks.every((track) => !before.includes(track));
    await Promise.all([host, guest].map((person) => expect.poll(async () => isNew(await person.tracks())).toBe(true)));
    measured('connected again after the service process was killed', Date.now() - crashed, 2_500);
    await Promise.all([host.untilHeard(), guest.untilHeard()]);
    await guest.page.getByText('Amina').first().waitFor();
    expect(await server.endReason(room.room_id)).toBeUndefined();
    await host.close();
    await guest.close();
  });

  test('come back after an orderly restart, which exits with 0', async () => {
    const room = await server.createRoom({ empty_timeout: 5 });
    const host = await Person.arrive(browser);
    const guest = await Person.arrive(browser);
    await host.join(room.final_link);
    await guest.join(room.guest_link, 'Ben');
    await Promise.all([host.untilHeard(), guest.untilHeard()]);

    const stopped = Date.now();
    expect(await server.down('SIGTERM')).toBe(0);
    measured('the server stopped', Date.now() - stopped, 10_000);
    await server.up();
    const started = Date.now();
    await Promise.all([host.untilHeard(), guest.untilHeard()]);
    measured('heard each other again after the server had started', Date.now() - started, 2_500);
    await host.close();
    await guest.close();
  });
});

test('a room whose time passed while the server was down has ended after it', async () => {
  const room = await server.createRoom({ empty_timeout: 5 });
  const host = await Person.arrive(browser);
  await host.join(room.final_link);
  await host.button('Leave').first().click();
  // The page does not wait for the server to show that the host left.
  await host.page.getByRole('heading', { name: 'You left the room' }).waitFor();
  await expect.poll(() => server.participants(room.room_id)).toBe(0);
  expect(await server.endReason(room.room_id)).toBeUndefined();
  await server.down('SIGKILL');
  await new Promise((done) => setTimeout(done, 5200));
  await server.up();
  await expect.poll(() => server.endReason(room.room_id)).toBe('empty_timeout');
  await host.close();
});

test('the host link belongs to the first browser', async () => {
  const room = await server.createRoom();
  const first = await Person.arrive(browser);
  const second = await Person.arrive(browser);

  // Both look at the link before either joins; the second to join reads why
  // it is a guest, and gives a name of its own.
  await first.open(room.final_link);
  await second.open(room.final_link);
  await expect.poll(() => second.page.getByLabel('Your name').inputValue()).toBe('Amina');
  await first.button('Join').click();
  await first.button('Leave').first().waitFor();
  await second.button('Join').click();
  await second.page.getByText('This link was already used in another browser.', { exact: false }).waitFor();
  expect(await second.page.getByLabel('Your name').inputValue()).toBe('');
  await second.page.getByLabel('Your name').fill('Ben');
  await second.button('Join').click();
  await second.button('Leave').first().waitFor();

  // On reload the first is the host still, with the name filled in.
  await first.page.reload();
  await first.page.getByText('You’re the host').waitFor();
  expect(await first.page.getByLabel('Your name').inputValue()).toBe('Amina');
  await first.close();
  await second.close();
});

test('no token is in the log', async () => {
  expect(server.log).toContain('path=/rtc');
  expect(server.log).not.toMatch(/access_token|eyJ[A-Za-z0-9_-]{10,}|#t=/);
  for (const [name, value] of Object.entries(server.quickstart)) {
    if (/secret|key|token/.test(name)) expect(server.log.includes(value), name).toBe(false);
  }
});
