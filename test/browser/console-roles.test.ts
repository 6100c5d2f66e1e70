import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Person } from './browser';
import { openPortal, operators, project, readers, setUpConsole, signIn, type Visitor, visitors, writers } from './console';
import { made, makePages, makeStates, openPage, receiver, room, withManyNodes } from './console-pages';
import { browser, server } from './fixture';

setUpConsole();

let guest: Person;

beforeAll(async () => {
  await makePages();
  await makeStates();
  guest = await Person.arrive(browser);
  await guest.join(room.guest_link, 'Ben');
}, 240_000);

afterAll(async () => {
  await guest.close();
  receiver.close();
});

const owners: Visitor[] = ['owner'];

const settings = ['Webhooks', 'Rooms', 'Guests', 'Access', 'Brand', 'Retention'].map((group) => `Change settings: ${group}`);

interface ButtonsOfPage {
  path: () => string;
  /** Those who have the page. */
  visitors: Visitor[];
  /** The buttons of the page, with those who see them. */
  buttons: (readonly [name: string, Visitor[]])[];
}

const all = (names: string[], who: Visitor[]): (readonly [string, Visitor[]])[] => names.map((name) => [name, who] as const);

const targetButtons = all(['Pause the target', 'Retry now'], writers);
const days = ['7 days', '30 days', '90 days'];

const buttonsOfPages: ButtonsOfPage[] = [
  { path: () => '', visitors, buttons: targetButtons },
  { path: () => '/rooms', visitors, buttons: [] },
  {
    path: () => `/rooms/${room.room_id}`,
    visitors,
    buttons: [['Show', visitors], ...all(['End the room', 'Remove'], writers)],
  },
  {
    path: () => `/rooms/${made.scheduled}`,
    visitors,
    buttons: [
      ['Show', visitors],
      ['Cancel the room', writers],
    ],
  },
  { path: () => `/requests?project=${project}`, visitors, buttons: [] },
  { path: () => '/requests?view=anonymous', visitors: readers, buttons: [] },
  {
    path: () => `/webhooks?project=${project}`,
    visitors,
    buttons: [...targetButtons, ...all(['Retry pending deliveries', 'Replay deliveries', 'Send a test event'], writers)],
  },
  { path: () => '/webhooks', visitors: readers, buttons: targetButtons },
  { path: () => `/webhooks/${made.pending}`, visitors, buttons: targetButtons },
  { path: () => `/webhooks/${made.delivered}`, visitors, buttons: all(['Pause the target', 'Replay the event'], writers) },
  { path: () => `/usage?project=${project}`, visitors, buttons: all(['Download CSV', ...days], visitors) },
  {
    path: () => `/usage?organization=${server.quickstart.organization_id}`,
    visitors: readers,
    buttons: all(['Download CSV', 'Download CSV by project', ...days], readers),
  },
  { path: () => '/projects', visitors, buttons: [['Create a project', operators]] },
  {
    path: () => `/projects/${project}`,
    visitors,
    buttons: [
      ...all(['Create a portal link', 'Rename', 'Suspend the project', ...settings], operators),
      ...all(['Rotate the API key', 'End the overlap now', 'Rotate the project secret'], writers),
    ],
  },
  {
    path: () => `/projects/${made.secret}`,
    visitors: readers,
    buttons: all(
      [
        'Create a portal link',
        'Rename',
        'Suspend the project',
        ...settings,
        'Rotate the API key',
        'End the overlap now',
        'Rotate the project secret',
      ],
      operators,
    ),
  },
  {
    path: () => `/projects/${made.suspended}`,
    visitors: readers,
    buttons: [
      ...all(
        ['Create a portal link', 'Rename', 'Resume the project', ...settings, 'Rotate the API key', 'Rotate the project secret'],
        operators,
      ),
      ['Delete the project', owners],
    ],
  },
  { path: () => '/organizations', visitors: readers, buttons: [['Create an organization', operators]] },
  {
    path: () => `/organizations/${server.quickstart.organization_id}`,
    visitors: readers,
    buttons: all(['Create a project', 'Suspend the organization'], operators),
  },
  {
    path: () => `/organizations/${made.closed}`,
    visitors: readers,
    buttons: [
      ['Resume the organization', operators],
      ['Delete the organization', owners],
    ],
  },
  {
    path: () => `/organizations/${made.empty}`,
    visitors: readers,
    buttons: [...all(['Create a project', 'Suspend the organization'], operators), ['Delete the organization', owners]],
  },
  { path: () => `/signature?project=${project}`, visitors, buttons: [['Check the signature', visitors]] },
  { path: () => '/audit', visitors: readers, buttons: [['Verify the log', readers]] },
  { path: () => '/nodes', visitors: readers, buttons: all(['Drain', 'Cancel the drain'], operators) },
  { path: () => '/settings', visitors: readers, buttons: [] },
  { path: () => '/team', visitors: readers, buttons: all(['Add a user', 'Create a link for this user', 'Change', 'Delete'], owners) },
  { path: () => '/team?view=sessions', visitors: readers, buttons: all(['Create a sign-in link', 'End'], operators) },
  { path: () => '/team?view=tokens', visitors: readers, buttons: all(['Create a token', 'Revoke'], owners) },
];

/** The buttons that change only what the page shows. */
const reading = /^(Copy\b.*|Filters.*|Clear filters|Older|Newer|Show more .*|Show later events)$/;

/** The names of the other buttons of a page, each once. */
async function buttonsOf(page: Page): Promise<string[]> {
  const names = await page
    .locator('#content')
    .getByRole('button')
    .evaluateAll((buttons) => buttons.map((one) => one.ariaLabel ?? one.textContent.trim()));
  const kinds = names.filter((name) => !reading.test(name)).map((name) => name.replace(/^((?:Cancel the d|D)rain)(?: of)? .*/, '$1'));
  return [...new Set(kinds)].sort();
}

const navigation: Record<'all' | 'operators', string[]> = {
  all: ['Overview', 'Rooms', 'Usage', 'Requests', 'Webhooks', 'Projects and keys', 'Signature tester'],
  operators: ['Organizations', 'Audit log', 'Nodes', 'Settings', 'Team'],
};

test.each(visitors)('the pages and their buttons are exactly those that a visitor may use: %s', async (visitor) => {
  const person = await Person.arrive(browser);
  const { page } = person;
  await withManyNodes(page);
  // It has the real list.
  await page.route(
    ({ pathname, searchParams }) => pathname === '/api/manage/stream' && searchParams.getAll('path').includes('/nodes'),
    (route) => route.abort(),
  );
  await (visitor === 'portal' ? openPortal(person) : signIn(person, visitor));
  const links = await page.getByRole('navigation', { name: 'Pages' }).getByRole('link').allTextContents();
  const wanted = [...navigation.all, ...(readers.includes(visitor) ? navigation.operators : [])];
  expect(links.sort()).toEqual(wanted.sort());
  for (const { path, visitors, buttons } of buttonsOfPages) {
    if (!visitors.includes(visitor)) continue;
    await openPage(page, path());
    if (path() !== '/nodes') await page.getByText('Updates live').waitFor(); // what a page reads later is followed, too
    const seen = buttons.filter(([, who]) => who.includes(visitor)).map(([name]) => name);
    await expect.poll(() => buttonsOf(page), { message: `${path()} as ${visitor}` }).toEqual(seen.sort());
  }
  if (visitor === 'operator') {
    // An operator ends the sessions of customers only.
    await openPage(page, '/team?view=sessions');
    const rows = page.getByRole('row').filter({ has: page.getByRole('button', { name: 'End', exact: true }) });
    for (const role of await rows.locator('[data-head="Role"]').allTextContents()) expect(role).toContain('Integrator');
  }
  await person.close();
});
