import type { Page } from 'playwright-core';
import { beforeAll, expect, test } from 'vitest';
import { Person } from './browser';
import { address, makeTokens, manage, openPortal, project, setUpConsole, signIn } from './console';
import { browser, server } from './fixture';

setUpConsole();

beforeAll(makeTokens);

interface SignInLink {
  url: string;
  session_id: string;
}

const createLink = (rights: object): Promise<SignInLink> => manage('POST', '/sign-in-links', { name: 'Customer', ...rights });
const createPortalLink = (): Promise<SignInLink> => createLink({ role: 'integrator', project_ids: [project] });
const untilOverview = (page: Page): Promise<void> => page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor();

test('a link that is opened again is not needed, and another one takes its place', async () => {
  const { url } = await createPortalLink();
  const customer = await Person.arrive(browser);
  await customer.page.goto(url);
  await untilOverview(customer.page);
  for (const again of [url, address('/sign-in')]) {
    await customer.page.goto(again);
    await untilOverview(customer.page);
    expect(customer.page.url()).toBe(address(''));
  }
  const late = await Person.arrive(browser);
  await late.page.goto(url);
  await late.page
    .getByRole('alert')
    .getByText(/was opened before/)
    .waitFor();
  await late.page.goto((await createPortalLink()).url);
  await untilOverview(late.page);
  await customer.close();
  await late.close();
});

test('a link that was used is not called unused after a failed read', async () => {
  const { url } = await createPortalLink();
  const customer = await Person.arrive(browser);
  await customer.recordReadOut();
  let failures = 0;
  await customer.page.route(
    '**/api/manage/caller',
    async (route) => {
      failures++;
      await route.fulfill({ status: 503, json: { error: { code: 'unavailable', message: 'the database is not available' } } });
    },
    { times: 1 },
  );
  await customer.page.goto(url);
  await untilOverview(customer.page);
  expect(failures).toBe(1);
  expect(await customer.readOut()).not.toContain('not used');
  await customer.close();
});

test('a link that is refused says why, and who is signed in', async () => {
  const customer = await Person.arrive(browser);
  const { page } = customer;
  await page.goto((await createPortalLink()).url);
  await untilOverview(page);
  await page.route('**/api/manage/sign-in', (route) =>
    route.fulfill({ status: 503, json: { error: { code: 'unavailable', message: 'the database is not available' } } }),
  );
  await customer.recordReadOut();
  await page.goto((await createPortalLink()).url);
  await untilOverview(page);
  await expect.poll(() => customer.readOut()).toContain('You are signed in as Customer. The database is not available.');
  await customer.close();
});

test('a role that changes is in force on the open page', async () => {
  const { user_id } = await manage<{ user_id: string }>('POST', '/users', {
    email: `grace.${Date.now()}@example.org`, // also when the test is repeated
    role: 'auditor',
  });
  const { url } = await manage<SignInLink>('POST', '/sign-in-links', { user_id });
  const person = await Person.arrive(browser);
  const { page } = person;
  await page.goto(url);
  await untilOverview(page);
  await page.goto(address(`/projects/${project}`));
  await page.getByRole('heading', { name: 'API keys' }).waitFor();
  const suspend = page.getByRole('button', { name: 'Suspend the project' });
  expect(await suspend.count()).toBe(0);
  for (const [role, name, buttons] of [
    ['operator', 'Operator', 1],
    ['auditor', 'Auditor', 0],
  ] as const) {
    await manage('PATCH', `/users/${user_id}`, { role });
    await page.locator('.account').getByText(name).waitFor();
    await page.getByRole('heading', { name: 'API keys' }).waitFor();
    await expect.poll(() => suspend.count()).toBe(buttons);
  }
  await person.close();
});

test('a sign-in in another tab changes the open pages', async () => {
  const person = await Person.arrive(browser);
  const page = await signIn(person, 'owner', '/projects');
  await page.getByRole('link', { name: 'Of somebody else' }).waitFor();
  await page.getByText('Updates live').waitFor();
  const tab = await person.tab();
  await tab.page.goto((await createPortalLink()).url);
  await untilOverview(tab.page);
  await page.locator('.account').getByText('Integrator').waitFor();
  await page.getByRole('link', { name: 'My project' }).waitFor();
  expect(await page.getByText('Of somebody else').count()).toBe(0);
  // The stream of updates is that of the new session, too.
  await manage('PATCH', `/projects/${project}`, { name: 'My project of today' });
  await page.getByRole('link', { name: 'My project of today' }).waitFor();
  await person.close();
});

test('a new secret stays after the session has ended', async () => {
  const { url, session_id } = await createLink({ role: 'owner' });
  const person = await Person.arrive(browser);
  const { page } = person;
  await page.goto(url);
  await untilOverview(page);
  await page.goto(address('/team?view=tokens'));
  const secret = page.getByRole('dialog', { name: 'The new management token' });
  const create = async (name: string): Promise<void> => {
    await page.getByRole('button', { name: 'Create a token' }).click();
    await page.getByLabel('Name, such as the script that uses it').fill(name);
    await page.getByRole('button', { name: 'Create', exact: true }).click();
    await secret.getByText(/^pt_/).waitFor();
    expect(await secret.evaluate((element) => element.contains(document.activeElement))).toBe(true);
  };
  const close = async (): Promise<void> => {
    await secret.getByRole('button', { name: 'I have saved it' }).click();
    await secret.getByRole('button', { name: 'Close anyway' }).click();
    await secret.waitFor({ state: 'hidden' });
  };
  await create('hourly report');
  await close();
  await expect.poll(() => page.evaluate(() => document.activeElement?.textContent)).toBe('Create a token');

  await create('daily report');
  const token = await secret.getByText(/^pt_/).innerText();
  await manage('POST', `/sessions/${session_id}/revoke`);
  await page.getByText('Your session has ended.').waitFor();
  expect(await secret.getByText(/^pt_/).innerText()).toBe(token);
  await person.seen('console-secret-after-session');
  await close();
  await page.getByLabel('Management token').fill(token);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('cell', { name: 'daily report' }).waitFor();
  await person.close();
});

test('a new secret waits until the one before is closed', async () => {
  const person = await Person.arrive(browser);
  await person.context.grantPermissions(['clipboard-write']);
  const page = await signIn(person, 'owner', '/team?view=tokens');
  const create = async (name: string): Promise<void> => {
    await page.getByRole('button', { name: 'Create a token' }).click();
    await page.getByLabel('Name, such as the script that uses it').fill(name);
    await page.getByRole('button', { name: 'Create', exact: true }).click();
  };
  const held: { token: string; respond: () => Promise<void> }[] = [];
  await page.route('**/api/manage/tokens', async (route) => {
    if (route.request().method() !== 'POST' || held.length > 0) return route.fallback();
    const response = await route.fetch();
    held.push({ token: (await response.json()).token, respond: () => route.fulfill({ response }) });
  });
  await create('late');
  await expect.poll(() => held.length).toBe(1);
  await page.keyboard.press('Escape');
  await create('in time');
  const secret = page.getByRole('dialog', { name: 'The new management token' });
  const first = await secret.getByText(/^pt_/).innerText();
  await secret.getByRole('button', { name: 'Copy' }).click();
  await page.getByText('Copied the management token.').waitFor();
  // The page requests the list again after it has received the secret. Responses to earlier requests may still arrive.
  const [again] = await Promise.all([
    page.waitForRequest((request) => request.method() === 'GET' && /\/tokens$/.test(request.url())),
    held[0]?.respond(),
  ]);
  await again.response();
  expect(await secret.getByText(/^pt_/).innerText()).toBe(first);

  await secret.getByRole('button', { name: 'I have saved it' }).click();
  await secret.getByText(held[0]?.token ?? '', { exact: true }).waitFor();
  await secret.getByRole('button', { name: 'I have saved it' }).click();
  await secret.getByText('You have not copied').waitFor();
  await secret.getByRole('button', { name: 'Close anyway' }).click();
  await secret.waitFor({ state: 'hidden' });
  await person.close();
});

test('a customer opens several pages at once and is refused none', async () => {
  await server.createRoom();
  const customer = await Person.arrive(browser);
  const refused: string[] = [];
  customer.context.on('response', (response) => {
    // Only some of the pages may follow their list; others are usually hidden, and do not try.
    if (response.status() === 429 && !response.url().includes('/stream')) refused.push(response.url());
  });
  await openPortal(customer);
  const open = async (): Promise<void> => {
    const page = await customer.context.newPage();
    await page.goto(address('/rooms'));
    await page.getByRole('table', { name: 'Rooms' }).waitFor();
  };
  await Promise.all([1, 2, 3, 4].map(open));
  expect(refused).toEqual([]);
  await customer.close();
});
