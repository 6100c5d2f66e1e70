import { afterEach } from 'vitest';
import { Person } from './browser';
import { Server } from './server';

/** Checks after each test of the file. One that throws fails the test. */
export const checks: (() => void)[] = [];

// A failed test prints what its pages show and the log of the server, saves screenshots, and
// closes its pages, so that they do not disturb the next test.
afterEach(async ({ task }) => {
  const failures = checks.flatMap((check) => {
    try {
      check();
      return [];
    } catch (error) {
      return [error];
    }
  });
  if (task.result?.state !== 'fail' && failures.length === 0) return;
  for (const [i, person] of [...Person.present].entries()) {
    const name = `failed-${task.name.replaceAll(/\W+/g, '-').slice(0, 60)}-${i + 1}`;
    const text = await person.page.locator('body').innerText().catch(String);
    console.error(`${name}, ${person.page.url()}:\n${text}\n${person.complaints.join('\n')}`);
    await person.picture(name).catch(console.error);
    await person.close();
  }
  for (const server of Server.running) console.error(`${server.url} said:\n${server.log.slice(-20_000)}`);
  if (failures.length > 0) throw failures[0];
});
