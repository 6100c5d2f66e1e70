import type { Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Person } from './browser';
import { address, manage, project, setUpConsole, signIn } from './console';
import { deliveryID, makePages, receiver } from './console-pages';
import { browser, server } from './fixture';
import { withinOne } from './server';

setUpConsole({ past: false });

beforeAll(makePages, 180_000);

afterAll(() => receiver.close());

let n = 0;
/** Another name each time, also when a test is repeated. */
const newName = (): string => `Made elsewhere ${Date.now()}-${n++}`;

const code = (page: Page, id: string): Locator => page.locator(`code[title="${id}"]`);

/** Calls a route of version 3 without a valid signature, and returns the ID of the request. */
async function callWrongly(): Promise<string> {
  const answer = await fetch(`${server.url}/api/v3/rooms/create_quick_audio_room`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'hash-signature': 'd3Jvbmc=' },
    body: JSON.stringify({ project_id: project }),
  });
  expect(answer.status).toBe(401);
  return answer.headers.get('x-request-id') ?? '';
}

/** Reads a number that the page shows, 0 if it does not show it. */
const numberIn = async (locator: Locator): Promise<number> =>
  (await locator.count()) === 0 ? 0 : Number((await locator.innerText()).replaceAll(/\D/g, ''));

/** Joins a new room until the test is over. */
async function joinRoom(): Promise<Person> {
  const guest = await Person.arrive(browser);
  await guest.join((await server.createRoom()).guest_link, 'Ben');
  return guest;
}

/** Resumes the target of the webhooks if an earlier test has paused it. */
async function resumeTarget(): Promise<void> {
  const { targets } = await manage<{ targets: { paused: boolean }[] }>('GET', `/webhook-targets?project_id=${project}`);
  if (targets.some(({ paused }) => paused)) await create(`/projects/${project}/webhook-resume`, { url: receiver.url });
}

interface Change {
  name: string;
  path: () => string | Promise<string>;
  /** Makes a change with the API, and returns what the page then shows. */
  change: (page: Page) => Promise<Locator>;
}

const create = async <T = Record<string, string>>(path: string, body: object): Promise<T> => manage<T>('POST', path, body);
const newOrganization = (): Promise<Record<string, string>> => create('/organizations', { name: newName(), billing: 'plan' });
const newProject = (): Promise<Record<string, string>> =>
  create('/projects', { organization_id: server.quickstart.organization_id, name: newName() });

test.each<Change>([
  {
    name: 'overview',
    path: () => '',
    change: async (page) => {
      const people = page.locator('.figure', { hasText: 'People in them' }).locator('strong');
      expect(await people.innerText()).toBe('0');
      await joinRoom();
      return people.getByText('1', { exact: true });
    },
  },
  {
    name: 'rooms',
    path: () => '/rooms',
    change: async (page) => {
      const title = newName();
      await server.createMeeting({}, { title });
      return page.getByRole('link', { name: title });
    },
  },
  {
    name: 'room',
    path: async () => `/rooms/${(await server.createRoom()).room_id}`,
    change: async (page) => {
      await manage('POST', `/rooms/${page.url().split('/').at(-1)}/end`);
      return page.locator('.page-head').getByText('Ended');
    },
  },
  {
    name: 'requests',
    path: () => `/requests?project=${project}`,
    change: async (page) => page.locator(`#content a[href*="${await callWrongly()}"]`),
  },
  {
    name: 'rejected requests',
    path: () => '/requests?view=anonymous',
    change: async (page) => {
      const row = page.getByRole('row').filter({ hasText: 'Unknown API key' });
      const before = await numberIn(row.locator('[data-head="API calls"]'));
      await fetch(`${server.url}/api/v5/keys`, { headers: { 'api-key': 'pk_mistyped', timestamp: '1', signature: '00' } });
      return row.getByRole('cell', { name: `${before + 1}`, exact: true });
    },
  },
  {
    name: 'webhooks',
    path: () => `/webhooks?project=${project}`,
    change: async (page) => {
      const { room_id } = await server.createRoom();
      const { webhooks } = await manage<{ webhooks: { delivery_id: string }[] }>('GET', `/webhooks?room_id=${room_id}`);
      return page.locator(`#content a[href*="${webhooks[0]?.delivery_id}"]`);
    },
  },
  {
    name: 'targets of webhooks',
    path: async () => {
      await resumeTarget();
      return `/webhooks?project=${project}`;
    },
    change: async (page) => {
      await create(`/projects/${project}/webhook-pause`, { url: receiver.url });
      return page.getByText('Paused by hand');
    },
  },
  {
    name: 'delivery',
    path: async () => {
      await resumeTarget();
      return `/webhooks/${deliveryID}`;
    },
    change: async (page) => {
      await create(`/projects/${project}/webhook-pause`, { url: receiver.url });
      return page.locator('.page-head').getByText(/^On hold/);
    },
  },
  {
    name: 'usage of a project',
    path: () => `/usage?project=${project}`,
    change: async (page) => {
      await withinOne(24 * 3_600_000, 60_000); // the page shows this month
      const rooms = page.locator('.figure', { hasText: 'Rooms created' }).locator('strong');
      const before = await numberIn(rooms);
      await server.createRoom();
      return rooms.getByText(`${before + 1}`, { exact: true });
    },
  },
  {
    name: 'usage of an organization by project',
    path: () => `/usage?organization=${server.quickstart.organization_id}`,
    change: async (page) => {
      const { name = '' } = await newProject();
      return page.getByRole('table', { name: 'Usage by project' }).getByRole('link', { name });
    },
  },
  {
    name: 'projects',
    path: () => '/projects',
    change: async (page) => page.locator('#content').getByRole('link', { name: (await newProject()).name ?? '' }),
  },
  {
    name: 'project',
    path: async () => `/projects/${(await newProject()).project_id}`,
    change: async (page) => {
      const name = newName();
      await manage('PATCH', `/projects/${page.url().split('/').at(-1)}`, { name });
      return page.getByRole('heading', { level: 1, name });
    },
  },
  {
    name: 'keys',
    path: async () => `/projects/${(await newProject()).project_id}`,
    change: async (page) => {
      await create(`/projects/${page.url().split('/').at(-1)}/keys/rotate`, {});
      return page.getByText('Old, in its overlap');
    },
  },
  {
    name: 'organizations',
    path: () => '/organizations',
    change: async (page) => page.getByRole('link', { name: (await newOrganization()).name ?? '' }),
  },
  {
    name: 'organization',
    path: async () => `/organizations/${(await newOrganization()).organization_id}`,
    change: async (page) => {
      await create(`/organizations/${page.url().split('/').at(-1)}/suspend`, {});
      return page.locator('.page-head').getByText('Suspended');
    },
  },
  {
    name: 'projects of an organization',
    path: () => `/organizations/${server.quickstart.organization_id}`,
    change: async (page) => page.locator('#content').getByRole('link', { name: (await newProject()).name ?? '' }),
  },
  {
    name: 'audit log',
    path: () => '/audit',
    change: async (page) => code(page, (await newOrganization()).organization_id ?? '').first(),
  },
  {
    name: 'users',
    path: () => '/team',
    change: async (page) => {
      const name = newName();
      await create('/users', { email: `${name.replaceAll(' ', '.')}@example.org`, name, role: 'auditor' });
      return page.getByRole('cell', { name });
    },
  },
  {
    name: 'sessions',
    path: () => '/team?view=sessions',
    change: async (page) => {
      const name = newName();
      await create('/sign-in-links', { name, role: 'auditor' });
      return page.getByRole('cell', { name });
    },
  },
  {
    name: 'tokens',
    path: () => '/team?view=tokens',
    change: async (page) => code(page, (await create('/tokens', { name: newName(), role: 'auditor' })).token_id ?? ''),
  },
  {
    name: 'nodes',
    path: () => '/nodes',
    change: async (page) => {
      const people = page.locator('td[data-head="People"]');
      expect(await people.innerText()).toBe('0');
      await joinRoom();
      return people.getByText('1', { exact: true });
    },
  },
])('a change that was made elsewhere appears without a reload: $name', async ({ path, change }) => {
  const person = await Person.arrive(browser);
  const page = await signIn(person, 'owner');
  await page.goto(address(await path()));
  await page.getByText('Updates live').waitFor();
  await expect.poll(() => page.locator('.loading').count()).toBe(0);
  await page.evaluate(() => Object.assign(globalThis, { loadedBefore: true }));
  const effect = await change(page);
  await effect.waitFor();
  expect(await page.evaluate(() => 'loadedBefore' in globalThis), 'the page was not loaded again').toBe(true);
  for (const one of [...Person.present]) await one.close();
  // The next test begins without people in rooms.
  await expect.poll(async () => (await manage<{ participants: number }>('GET', '/overview')).participants).toBe(0);
});

// The page of the projects reads the list that its frame has read, because it shows further pages of it.
test.each(['', '/rooms', '/requests', '/webhooks', '/usage', '/audit', '/nodes'])(
  'a page reads each address once when it is opened: console%s',
  async (path) => {
    const person = await Person.arrive(browser);
    const page = await signIn(person, 'owner');
    const read: string[] = [];
    page.on('request', (request) => {
      if (request.url().includes('/api/manage/')) read.push(request.url());
    });
    await page.goto(address(path));
    await page.getByText('Updates live').waitFor();
    await expect.poll(() => page.locator('.loading').count()).toBe(0);
    expect(read.some((url) => url.endsWith('/caller'))).toBe(true);
    const once = read.filter((url) => !url.includes('/stream?'));
    expect(once.toSorted()).toEqual([...new Set(once)].toSorted());
    for (const one of [...Person.present]) await one.close();
  },
);
