import { test } from 'vitest';
import { Person, phone } from '../browser';
import { browser, closeAll, server, setUp } from '../fixture';

// make run starts the server with this flag.
setUp({ flags: ['--demo'] });

test('the links that make run prints lead two browsers into one room', async () => {
  const links = server.demo('audio');
  const host = await Person.arrive(browser);
  const guest = await Person.arrive(browser, { viewport: phone });
  await host.join(links.host);
  await guest.join(links.guest, 'Ben');
  await Promise.all([host.untilHeard(), guest.untilHeard()]);
  await closeAll([host, guest]);
});
