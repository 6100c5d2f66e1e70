import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach } from 'vitest';
import { artefacts, Person } from './browser';
import { Server } from './server';

let running = 0;

beforeEach(() => {
  running++;
});

// A failed test saves a screenshot of each page and the log of the server. Its pages are
// closed, except those that a concurrent test may need.
afterEach(async ({ task }) => {
  running--;
  if (task.result?.state !== 'fail') return;
  for (const [i, person] of [...Person.present].entries()) {
    const name = `failed-${task.name.replaceAll(/\W+/g, '-').slice(0, 60)}-${i + 1}`;
    const text = await person.page.locator('body').innerText().catch(String);
    console.error(`${name}, ${person.page.url()}:\n${text}\n${person.complaints.join('\n')}`);
    await person.picture(name).catch(console.error);
    // The Makefile prints it again at the end of its output.
    const line = (words: string): string => words.replaceAll(/\s+/g, ' ').slice(0, 500);
    appendFileSync(join(artefacts, 'failed.txt'), `${name}: ${line(text)} | ${line(person.complaints.join(' '))}\n`);
    if (running === 0) await person.close();
  }
  for (const server of Server.running) console.error(`${server.url} said:\n${server.log.slice(-20_000)}`);
});
