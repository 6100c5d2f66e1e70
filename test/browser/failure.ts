import { afterEach } from 'vitest';
import { Person } from './browser';
import { Server } from './server';

// A failed test prints what its pages show and the log of the server, saves screenshots, and
// closes its pages, so that they do not disturb the next test.
afterEach(async ({ task }) => {
  if (task.result?.state !== 'fail') return;
  for (const [i, person] of [...Person.present].entries()) {
    const name = `failed-${task.name.replaceAll(/\W+/g, '-').slice(0, 60)}-${i + 1}`;
    const text = await person.page.locator('body').innerText().catch(String);
    console.error(`${name}, ${person.page.url()}:\n${text}\n${person.complaints.join('\n')}`);
    await person.picture(name).catch(console.error);
    await person.close();
  }
  for (const server of Server.running) console.error(`${server.url} said:\n${server.log.slice(-20_000)}`);
});
