import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { Person } from '../browser';
import { browser, server, setUp } from '../fixture';

setUp();

test('a project’s own page shows a room in a frame and receives what happens in it', async () => {
  const room = await server.createRoom();
  const site = createServer((_, answer) => {
    answer.setHeader('Content-Type', 'text/html');
    answer.end(`<!doctype html><iframe src="${room.guest_link}?name=Ana" allow="microphone; camera; autoplay" width="800" height="600"></iframe>
      <script>globalThis.messages = []; addEventListener('message', ({ data, origin }) => {
        if (data.type === 'joined' || data.type === 'left') messages.push({ ...data, origin });
      })</script>`);
  }).listen(0, '127.0.0.1');
  onTestFinished(() => void site.close());
  await once(site, 'listening');
  const origin = `http://localhost:${(site.address() as AddressInfo).port}`;

  const host = await Person.arrive(browser);
  await host.join(room.final_link);
  const framed = await Person.arrive(browser);
  await framed.open(origin);
  // Only the origins that the project names may show its rooms.
  await expect.poll(() => framed.complaints.join()).toContain('frame-ancestors');
  server.set(`embed_origins=${origin}`);
  await framed.page.reload();
  const inside = framed.page.frameLocator('iframe');
  await inside.getByRole('button', { name: 'Join', exact: true }).click();
  await host.untilHeard();
  await inside.getByRole('button', { name: 'Leave', exact: true }).first().click();
  const message = { source: 'parley', room_id: room.room_id, origin: server.url };
  await expect
    .poll(() => framed.page.evaluate(() => (globalThis as unknown as { messages: unknown }).messages))
    .toEqual([
      { ...message, type: 'joined' },
      { ...message, type: 'left', reason: 'left' },
    ]);
  for (const person of [host, framed]) await person.close();
});
