import { execFileSync } from 'node:child_process';
import { dirname } from 'node:path';
import type { Page } from 'playwright-core';
import { beforeAll, expect, test } from 'vitest';
import { Person } from './browser';
import { makeTokens, manage, openPortal, project, setUpConsole, signIn } from './console';
import { openPage } from './console-pages';
import { browser, server } from './fixture';
import { binary } from './server';

setUpConsole({ past: false });

beforeAll(makeTokens);

/** The title and the next step that a page shows while there is nothing. */
type EmptyPage = readonly [path: string, title: string, step: string | RegExp];

async function expectEmpty(person: Person, pages: EmptyPage[], who: string): Promise<void> {
  for (const [path, title, step] of pages) {
    await openPage(person.page, path);
    const box = person.page.locator('#content .box').filter({ has: person.page.getByRole('heading', { name: title, exact: true }) });
    await box.waitFor();
    expect(await box.textContent(), `${path} as ${who}`).toMatch(step);
    await person.seen(`console-start-${title.replaceAll(' ', '-').toLowerCase()}-${who}`);
  }
}

/** Answers a list with no row, because a new server has one. The stream of updates has the real list. */
async function without(page: Page, list: string): Promise<void> {
  await page.route('**/api/manage/stream**', (route) => route.abort());
  await page.route(
    ({ pathname }) => pathname === `/api/manage/${list}`,
    (route) => route.fulfill({ json: { [list]: [] } }),
  );
}

const call = /Open its link in two browsers/;

/** The command of the overview of a new server. It creates a room, so the test that runs it is not the one that reads it. */
let command = '';

test('the pages of a new server say what to do first: owner', async () => {
  const person = await Person.arrive(browser);
  const page = await signIn(person, 'owner');
  await expectEmpty(
    person,
    [
      [`/requests?project=${project}`, 'No API calls yet', /API calls appear here within a second.*Open its link in two browsers/],
      ['/rooms', 'No rooms yet', call],
      ['/webhooks', 'No deliveries yet', /Set the URL on the page of a project, then send a test event here/],
      [`/usage?project=${project}`, 'No usage in this time', /Usage appears a few seconds after people were in a room/],
      ['/signature', 'Choose a project', /Choose the project that signs the request in the list of projects/],
      ['', 'Nothing has happened yet', call],
    ],
    'owner',
  );
  command = await page.getByRole('region', { name: 'Nothing has happened yet' }).locator('code').innerText();
  await person.close();
});

test('the command of the overview of a new server creates a room', async () => {
  expect(command, 'the test before this one reads it').not.toBe('');
  const person = await Person.arrive(browser);
  const page = await signIn(person, 'owner');
  execFileSync('bash', ['-c', command], {
    env: { ...process.env, PATH: `${dirname(binary)}:${process.env.PATH}`, PARLEY_DATA_DIR: server.dataDir, PARLEY_URL: server.url },
  });
  await page.getByRole('heading', { name: 'Nothing has happened yet' }).waitFor({ state: 'detached' });
  await openPage(page, '/rooms');
  await page.getByRole('link', { name: 'Standup' }).first().waitFor(); // a repeated test has created another one
  await person.close();
});

test('the pages of a new project say what its backend has to do first: portal', async () => {
  const person = await Person.arrive(browser);
  const { organization_id } = server.quickstart;
  // The first project has a room when the other test was before this one.
  const { project_id } = await manage<{ project_id: string }>('POST', '/projects', { organization_id, name: `New ${Date.now()}` });
  await openPortal(person, { of: project_id });
  await expectEmpty(
    person,
    [
      ['', 'Nothing has happened yet', /Let your backend create its first room. The documentation has examples/],
      ['/rooms', 'No rooms yet', /Let your backend create its first room/],
      ['/webhooks', 'No deliveries yet', /An operator of this server can set the URL of the project/],
      ['/usage', 'No usage in this time', /Usage appears a few seconds after people were in a room/],
    ],
    'portal',
  );
  await person.close();
});

test.each<[list: string, ...EmptyPage]>([
  ['projects', '/projects', 'No projects yet', /You receive its first API key.*parley project create/],
  ['sessions', '/team?view=sessions', 'Nobody is signed in', /People appear here when they sign in/],
  ['tokens', '/team?view=tokens', 'No tokens', /Scripts call the management API with a token.*parley token create/],
])('an empty list says what its rows would be: %s', async (list, ...empty) => {
  const person = await Person.arrive(browser);
  await signIn(person, 'owner');
  await without(person.page, list);
  await expectEmpty(person, [empty], 'owner');
  await person.close();
});
