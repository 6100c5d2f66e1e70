import { createHmac } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Request } from 'playwright-core';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { Person } from './browser';
import { address, makeTokens, manage, Receiver, setUpConsole, signIn } from './console';
import { browser, server } from './fixture';
import { measured } from './measure';
import { fetchAgain } from './server';

setUpConsole();

interface Page {
  name: string;
  /** Absent for the first one, which has the requests that every page makes. */
  path?: string;
  requests: string[];
}

/** The pages whose requests `make bench` measures. */
const [ofEveryPage, ...pages] = JSON.parse(readFileSync(resolve(import.meta.dirname, '../bench/console.json'), 'utf8')) as [
  Page,
  ...Page[],
];

/** How much server time the requests of a page may take, in milliseconds. */
const goal = 100;

let receiver: Receiver;
const ids: Record<string, string> = {};
const fill = (path: string): string => path.replaceAll(/\{([a-z-]+)\}/g, (_, name: string) => encodeURIComponent(ids[name] ?? name));

/** Makes a project whose name is not on the first page of projects, because there are more, with a room, a delivery and a call. */
beforeAll(async () => {
  await makeTokens();
  receiver = await Receiver.start();
  const { organization_id } = server.quickstart;
  for (let n = 0; n < 100; n++) await manage('POST', '/projects', { organization_id, name: `Customer ${n}` });
  const { project_id, api_key } = await manage<{ project_id: string; api_key: string }>('POST', '/projects', {
    organization_id,
    name: 'The newest customer',
  });
  await manage('PATCH', `/projects/${project_id}`, { default_webhook_url: receiver.url });
  const metadata = { room_title: 'Standup', welcome_message: '' };
  const body = JSON.stringify({ project_id, name: 'Amina', max_participants: 10, empty_timeout: 300, metadata });
  const created = await fetchAgain(`${server.url}/api/v3/rooms/create_quick_audio_room`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'hash-signature': createHmac('sha256', api_key).update(body).digest('base64') },
    body,
  });
  expect(created.ok, await created.clone().text()).toBe(true);
  const { room_id } = (await created.json()) as { room_id: string };
  // During the overlaps, the page of a project has most to show.
  await manage('POST', `/projects/${project_id}/keys/rotate`, {});
  await manage('POST', `/projects/${project_id}/rotate-secret`, {});
  const find = (list: string, id: string): Promise<string> =>
    vi.waitFor(async () => {
      const found = await manage<Record<string, Record<string, string>[]>>('GET', `/${list}?project_id=${project_id}&limit=1`);
      const value = found[list]?.[0]?.[id] ?? '';
      expect(value).not.toBe('');
      return value;
    }, 60_000);
  const call = await find('calls', 'request_id');
  Object.assign(ids, {
    project: project_id,
    organization: organization_id,
    room: room_id,
    delivery: await find('webhooks', 'delivery_id'),
    call,
    'old-call': call,
    from: '2026-01-02T10:05:00.000Z',
    to: '2026-01-02T11:05:00.000Z',
  });
}, 600_000);

afterAll(() => receiver.close());

/** The path and the query of an address of the management API, in one order. */
function requestOf(url: string): string {
  const { pathname, searchParams } = new URL(url, server.url);
  return [pathname.replace('/api/manage', ''), ...[...searchParams].map((pair) => pair.join('=')).sort()].join(' ');
}

/** The server time of each request of the management API in a log, without streams, in milliseconds. */
function serverTimes(log: string): number[] {
  const lines = log.matchAll(/ msg=request .* method=GET path=\/api\/manage\/(?!stream)\S+ .*duration_ms=([\d.]+)/g);
  return [...lines].map(([, ms]) => Number(ms));
}

test('the pages make the requests whose server time is measured', async () => {
  const person = await Person.arrive(browser);
  const page = await signIn(person, 'owner');
  const menu = await page
    .getByRole('navigation', { name: 'Pages' })
    .getByRole('link')
    .evaluateAll((links) => links.map((link) => new URL((link as HTMLAnchorElement).href).pathname));
  for (const path of menu) {
    expect(
      pages.map(({ path }) => new URL(address(path ?? '')).pathname),
      'the pages in console.json',
    ).toContain(path);
  }

  let made: Request[] = [];
  let open = 0;
  page.on('request', (request) => {
    const { pathname } = new URL(request.url());
    if (!pathname.startsWith('/api/manage/') || pathname === '/api/manage/stream') return;
    made.push(request);
    open++;
  });
  const ended = (request: Request): void => {
    if (made.includes(request)) open--;
  };
  page.on('requestfinished', ended);
  page.on('requestfailed', ended);
  const isOfNames = (request: string): boolean => request.startsWith('/projects project_ids=');
  let names = 0;
  for (const { name: of, path = '', requests } of pages) {
    made = [];
    open = 0;
    const logged = server.log.length;
    const wanted = [...ofEveryPage.requests, ...requests].map((one) => requestOf(`/api/manage${fill(one)}`));
    // A search goes on by itself after a page without a match.
    const found = (): string[] => {
      const all = made.map((one) => requestOf(one.url()));
      return all.filter((one) => !/ cursor=/.test(one) || !all.includes(one.replace(/ cursor=\S+/, '')));
    };
    await page.goto(address(fill(path)));
    await page.getByText('Updates live').waitFor();
    await expect.poll(() => page.locator('.loading, [aria-busy=true]').count()).toBe(0);
    await expect.poll(() => page.getByText(/^Searching .* entries…$/).count()).toBe(0);
    // Only a page that shows a project of the second page asks for names.
    const others = (all: string[]): string[] => all.filter((one) => !isOfNames(one)).sort();
    await expect
      .poll(() => (open === 0 ? others(found()) : 'still open'), { message: `the requests of the page "${of}"` })
      .toEqual(others(wanted));
    const ofNames = found().filter(isOfNames).length;
    expect(ofNames, `requests of names of the page "${of}"`).toBeLessThanOrEqual(1);
    names += ofNames;
    await expect.poll(() => serverTimes(server.log.slice(logged)).length).toBeGreaterThanOrEqual(made.length);
    const took = serverTimes(server.log.slice(logged)).reduce((sum, ms) => sum + ms, 0);
    measured(`server time of the console page "${of}"`, took, goal);
  }
  expect(names, 'requests of names').toBeGreaterThan(0);
  await person.close();
});
