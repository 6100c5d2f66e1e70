import type { Locator } from 'playwright-core';
import { test } from 'vitest';
import { Person, phone } from '../browser';
import { browser, closeAll, server, setUp } from '../fixture';

setUp();

test('a host mutes a guest, makes one a co-host, and removes and readmits one', async () => {
  const room = await server.createRoom();
  const host = await Person.arrive(browser);
  const ben = await Person.arrive(browser, { viewport: phone });
  await host.join(room.final_link);
  await ben.join(room.guest_link, 'Ben');
  await host.untilHeard();

  await host.button(/^People/).click();
  await host.button('Manage Ben').click();
  const ofBen = (action: string): Locator =>
    host.page.locator('.roster-row', { has: host.button('Manage Ben') }).getByRole('button', { name: action, exact: true });
  await ofBen('Mute').click();
  await ben.button('Unmute').waitFor();
  await host.untilSilent();
  await ben.button('Unmute').first().click();
  await host.untilHeard();

  await ofBen('Make co-host').click();
  await ben.page.getByText('You’re a co-host now.').waitFor();
  await ofBen('Remove as co-host').click();
  await ben.page.getByText('You’re a guest again.').waitFor();

  await ofBen('Remove…').click();
  await ofBen('Remove Ben').click();
  await ben.page.getByRole('heading', { name: 'You were removed from this room' }).waitFor();
  await host.button('Manage Ben').waitFor({ state: 'detached' });
  // He has not left by himself, which the host knows.
  await host.page.getByText('Nobody else is here now').waitFor();
  await ben.page.reload();
  await ben.page.getByRole('heading', { name: 'You were removed from this room' }).waitFor();
  await host.button('Admit again (Ben)').click();
  await host.button('Admit again (Ben)').waitFor({ state: 'detached' });
  await ben.button('Try again').click();
  await ben.button('Join').click();
  await ben.button('Leave').first().waitFor();
  await closeAll([host, ben], /status of 403/);
});
