import { test } from 'vitest';
import { Person } from '../browser';
import { makeTokens, setUpConsole, signIn } from '../console';
import { browser, closeAll, server } from '../fixture';

setUpConsole();

test('an operator signs in to the console and sees who is in a room', async () => {
  await makeTokens();
  const room = await server.createRoom();
  const guest = await Person.arrive(browser);
  await guest.join(room.guest_link, 'Ben');
  const operator = await Person.arrive(browser);
  const page = await signIn(operator, 'operator');
  await page.getByText('Last 24 hours').first().waitFor();
  await operator.seen('journey-console-overview');
  await page.getByRole('link', { name: 'Rooms', exact: true }).click();
  await page.getByRole('link', { name: 'Standup' }).first().click();
  await page.getByText('Ben', { exact: true }).first().waitFor();
  await operator.seen('journey-console-room');
  await closeAll([guest]);
  await operator.close();
});
