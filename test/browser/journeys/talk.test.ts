import { expect, test } from 'vitest';
import { audible, Person, phone } from '../browser';
import { browser, closeAll, server, setUp } from '../fixture';

setUp();

test('two people join an audio room and hear each other, and a third finds it full', async () => {
  const room = await server.createRoom({ max_participants: 2 });
  const host = await Person.arrive(browser);
  const guest = await Person.arrive(browser, { viewport: phone });
  await host.join(room.final_link);
  await host.page.getByRole('heading', { name: 'Standup' }).waitFor();
  // The guest has a link that the backend has signed itself.
  await guest.join(server.signedLink(room.room_id, { role: 'guest', name: 'Ben' }));
  await Promise.all([host.untilHeard(), guest.untilHeard()]);
  await host.page.getByText('Ben').first().waitFor();
  await guest.page.getByText('Amina').first().waitFor();

  // A muted person is not heard, and heard again afterwards.
  await guest.button('Mute').click();
  await guest.button('Unmute').waitFor();
  await host.untilSilent();
  await guest.button('Unmute').click();
  await host.untilHeard();

  const third = await Person.arrive(browser);
  await third.open(room.guest_link);
  await third.page.getByLabel('Your name').fill('Chen');
  await third.button('Join').click();
  await third.page.getByRole('heading', { name: 'This room is full' }).waitFor();

  // A participant who leaves is gone for the others.
  await guest.button('Leave').first().click();
  await guest.page.getByRole('heading', { name: 'You left the room' }).waitFor();
  await host.page.getByText('Nobody else is here now').waitFor();
  await expect.poll(() => server.participants(room.room_id)).toBe(1);
  await closeAll([host, guest, third], /status of 409/);
});

test('each link opens its own room, and a reload keeps the host a host', async () => {
  const [standup, other] = await Promise.all([server.createRoom(), server.createRoom({ empty_timeout: 60 })]);
  const host = await Person.arrive(browser);
  const stranger = await Person.arrive(browser);
  await host.join(standup.final_link);
  await stranger.join(other.guest_link, 'Ben');
  await host.page.getByText('You’re the first one here').waitFor();
  await stranger.page.getByText('You’re the first one here').waitFor();
  expect(await Promise.all([server.participants(standup.room_id), server.participants(other.room_id)])).toEqual([1, 1]);
  expect(await host.hears(audible)).toBeLessThan(audible);

  await host.page.reload();
  await host.page.getByText('You’re the host').waitFor();
  expect(await host.page.getByLabel('Your name').inputValue()).toBe('Amina');
  await host.button('Rejoin').click();
  await host.openRoomTab();
  await host.button('End for all…').click();
  await host.button('End for all').click();
  await host.page.getByRole('heading', { name: 'You ended the room' }).waitFor();
  await expect.poll(() => server.endReason(standup.room_id)).toBe('host');
  expect(await server.endReason(other.room_id)).toBeUndefined();

  const late = await Person.arrive(browser);
  await late.open(standup.guest_link);
  await late.page.getByRole('heading', { name: 'This room has ended' }).waitFor();
  await closeAll([host, stranger, late], /status of 410/);
});
