import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, type Server as WebServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { resolve } from 'node:path';
import ts from 'typescript';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Person } from './browser';
import { browser, closeAll, server, setUp } from './fixture';

setUp();

const repository = resolve(import.meta.dirname, '../..');
const read = (path: string): string => readFileSync(resolve(repository, path), 'utf8');
const guide = read('docs/api/embedding.md');
const [, example = ''] = /^```html\n([^`]*<parley-room[^`]*)^```$/m.exec(guide) ?? [];
const [, wrapper = ''] = /^```ts title="React"\n(.*?)^```$/ms.exec(guide) ?? [];

/** Preact takes the place of React, as on the room page. */
const modules: Record<string, string> = {
  '/react.mjs': read('web/node_modules/preact/compat/dist/compat.mjs'),
  '/preact.mjs': read('web/node_modules/preact/dist/preact.mjs'),
  '/hooks.mjs': read('web/node_modules/preact/hooks/dist/hooks.mjs'),
  '/wrapper.mjs': ts.transpileModule(wrapper, {
    compilerOptions: { module: ts.ModuleKind.ESNext, target: ts.ScriptTarget.ES2022 },
  }).outputText,
};

const reactPage = (link: string): string => `<!doctype html>
<title>Your lesson</title>
<script src="${server.url}/embed.js"></script>
<script type="importmap">
{"imports":{"react":"/react.mjs","preact":"/preact.mjs","preact/hooks":"/hooks.mjs"}}
</script>
<div id="app"></div>
<script type="module">
  import { createElement, createRef, render } from 'react';
  import { ParleyRoom } from '/wrapper.mjs';
  const room = createRef();
  const heard = [];
  Object.assign(globalThis, { room, heard });
  const onEvent = (type, detail) => heard.push([type, detail]);
  render(createElement(ParleyRoom, { link: ${JSON.stringify(link)}, room, onEvent }), document.getElementById('app'));
</script>`;

let site: WebServer;

beforeAll(async () => {
  // Another site with the examples of the guide. The text after "?" is the link.
  site = createServer((request, answer) => {
    const [path = '', query = ''] = (request.url ?? '').split('?');
    const link = decodeURIComponent(query);
    const module = modules[path];
    answer.setHeader('Content-Type', module === undefined ? 'text/html' : 'text/javascript');
    answer.end(module ?? (path === '/react' ? reactPage(link) : example.replace('{{base_url}}', server.url).replace('LINK', link)));
  }).listen(0, '127.0.0.1');
  await once(site, 'listening');
});

afterAll(() => void site.close());

const addressOf = (path: string, link: string): string =>
  `http://localhost:${(site.address() as AddressInfo).port}${path}?${encodeURIComponent(link)}`;

const allow = (): void => server.set(`embed_origins=${new URL(addressOf('/', '')).origin}`);

test('the example shows whether the visitor is in the room', async () => {
  allow();
  const room = await server.createRoom({ max_participants: 2 });
  const visitor = await Person.arrive(browser);
  await visitor.open(addressOf('/', room.final_link));
  const inside = visitor.page.frameLocator('iframe');
  await inside.getByRole('button', { name: 'Join', exact: true }).click();
  await visitor.page.getByText('You are in the room.').waitFor();
  await inside.getByRole('button', { name: 'Leave', exact: true }).first().click();
  await visitor.page.getByText('You left the room.').waitFor();
  await visitor.close();
});

test('the wrapper for React hears every event and calls every method', async () => {
  allow();
  const room = await server.createMeeting({});
  const host = await Person.arrive(browser);
  await host.join(room.final_link);
  const visitor = await Person.arrive(browser);
  await visitor.open(addressOf('/react', `${room.guest_link}?name=Ana`));
  const { page } = visitor;
  const heard = (): Promise<[string, unknown][]> => page.evaluate(() => (globalThis as unknown as { heard: [string, unknown][] }).heard);
  const call = (method: string): Promise<void> =>
    page.evaluate(async (name) => {
      const { current } = (globalThis as unknown as { room: { current: Record<string, () => Promise<void>> } }).room;
      await current[name]?.();
    }, method);
  const property = (name: string): Promise<unknown> =>
    page.evaluate((key) => (globalThis as unknown as { room: { current: Record<string, unknown> } }).room.current[key], name);

  const inside = page.frameLocator('iframe');
  await inside.getByRole('button', { name: 'Join', exact: true }).click();
  await expect.poll(heard).toContainEqual(['joined', null]);
  await expect.poll(() => property('state')).toBe('inside');
  await expect.poll(heard).toContainEqual(['people', { count: 2 }]);
  expect((await heard()).filter(([type, detail]) => type === 'people' && (detail as { count: number }).count === 0)).toEqual([]);

  for (const [method, name, muted] of [
    ['muteMicrophone', 'microphoneMuted', true],
    ['unmuteMicrophone', 'microphoneMuted', false],
    ['muteCamera', 'cameraMuted', true],
    ['unmuteCamera', 'cameraMuted', false],
  ] as const) {
    await call(method);
    await expect.poll(() => property(name), { message: method }).toBe(muted);
  }
  expect((await heard()).map(([type]) => type)).toContain('mute');
  await call('leave');
  await expect.poll(heard).toContainEqual(['left', { reason: 'left' }]);
  await expect(call('leave')).rejects.toThrow('not in the room');

  await inside.getByRole('button', { name: 'Rejoin', exact: true }).click();
  await expect.poll(() => property('state')).toBe('inside');
  await host.openRoomTab();
  await host.button('End for all…').click();
  await host.button('End for all').click();
  await expect.poll(heard).toContainEqual(['ended', { reason: 'host' }]);
  await closeAll([host], /410/); // the host's page asks for the seat in a room that is over
  await visitor.close();
});
