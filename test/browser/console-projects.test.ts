import { readFileSync } from 'node:fs';
import { beforeAll, expect, test } from 'vitest';
import { Person } from './browser';
import { address, makeTokens, manage, setUpConsole, signIn } from './console';
import { browser, server } from './fixture';

setUpConsole();

/** More projects and organizations than one page has. */
const projectCount = 1_500;
const organizationCount = 150;

beforeAll(async () => {
  await makeTokens();
  const names = Array.from({ length: projectCount }, (_, n) => `Customer ${n + 1}`);
  const create = async (): Promise<void> => {
    for (let name = names.shift(); name; name = names.shift()) {
      await manage('POST', '/projects', { organization_id: server.quickstart.organization_id, name });
    }
  };
  await Promise.all(Array.from({ length: 16 }, create));
  for (let n = 1; n <= organizationCount; n++) await manage('POST', '/organizations', { name: `Payer ${n}`, billing: 'plan' });
}, 300_000);

test('many projects are shown page by page, stay up to date, and are found by their names', async () => {
  const person = await Person.arrive(browser);
  const page = await signIn(person, 'operator', '/projects');
  const rows = page.getByRole('table', { name: 'Projects' }).getByRole('row');
  await expect.poll(() => rows.count()).toBe(101); // with the heading
  await page.getByRole('button', { name: 'Show more projects' }).click();
  await expect.poll(() => rows.count()).toBe(201);
  const first = server.quickstart.project_id ?? '';
  await manage('PATCH', `/projects/${first}`, { name: 'Renamed meanwhile' });
  await page.getByRole('link', { name: 'Renamed meanwhile' }).waitFor();
  expect(await page.getByRole('alert').count()).toBe(0);

  const filter = page.getByLabel('Name or ID');
  await filter.fill('customer 1499');
  await page.keyboard.press('Enter');
  await expect.poll(() => rows.count()).toBe(2);
  await page.getByRole('link', { name: 'Customer 1499' }).click();
  await page.getByRole('heading', { level: 1, name: 'Customer 1499' }).waitFor();
  await page.goBack();
  await manage('POST', '/projects', { organization_id: server.quickstart.organization_id, name: 'Came later' });
  await filter.fill('came');
  await page.keyboard.press('Enter');
  await page.getByRole('link', { name: 'Came later' }).waitFor();
  await filter.fill('customer');
  await page.keyboard.press('Enter');
  await expect.poll(() => rows.count()).toBe(101);
  await page.getByRole('button', { name: 'Show more projects' }).click();
  await expect.poll(() => rows.count()).toBe(201);
  await filter.fill('nobody');
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: 'No project matches' }).waitFor();
  await page.getByRole('button', { name: 'Clear filters' }).click();
  await expect.poll(() => rows.count()).toBe(101);
  await person.close();
});

test.each([
  { look: 'desktop', viewport: { width: 1280, height: 800 }, dark: false },
  { look: 'phone', viewport: { width: 390, height: 844 }, dark: true },
])('one of many projects is chosen for all pages, $look', async ({ look, ...options }) => {
  const person = await Person.arrive(browser, options);
  const page = await signIn(person, 'auditor', '/requests');
  if (look === 'phone') await page.getByRole('button', { name: 'Menu' }).click();
  const search = page.getByLabel('Find a project');
  await search.fill('customer 13');
  await page.getByText('There are more: type more of the name.').waitFor();
  await person.seen(`console-project-finder-${look}`);
  await search.fill('nobody');
  await page.getByText('No project matches.').waitFor();
  await search.fill('customer 1397');
  await page.getByRole('button', { name: 'Customer 1397', exact: true }).waitFor();
  await search.press('Enter');
  await page.waitForURL(/\?project=/);
  await page.locator('.one-project').getByText('Customer 1397').waitFor();
  await page.reload();
  if (look === 'phone') await page.getByRole('button', { name: 'Menu' }).click();
  await page.locator('.one-project').getByText('Customer 1397').waitFor();
  await page.getByRole('button', { name: 'Show all projects' }).click();
  await page.locator('.one-project').getByText('All projects').waitFor();
  await person.close();
});

test('a list of all projects names projects beyond the first page', async () => {
  const { projects } = await manage<{ projects: { project_id: string }[] }>('GET', '/projects?search=customer%201498');
  const token = await manage<{ token_id: string }>('POST', '/tokens', {
    name: 'of a late customer',
    role: 'integrator',
    project_ids: [projects[0]?.project_id],
  });
  const person = await Person.arrive(browser);
  const page = await signIn(person, 'owner', '/team?view=tokens');
  const row = page.getByRole('row').filter({ hasText: 'of a late customer' });
  await row.getByText('Customer 1498').waitFor();
  await manage('POST', `/tokens/${token.token_id}/revoke`, {});
  await person.close();
});

test('one of many projects is found for the link of a customer', async () => {
  const person = await Person.arrive(browser);
  const page = await signIn(person, 'owner', '/team?view=sessions');
  await page.getByRole('button', { name: 'Create a sign-in link' }).click();
  const form = page.getByRole('dialog', { name: 'Create a sign-in link' });
  await form.getByText('None is chosen yet.').waitFor();
  const search = form.getByLabel('Find a project');
  await search.fill('customer 1498');
  await form.getByRole('button', { name: 'Customer 1498' }).click();
  expect(await form.getByRole('checkbox', { name: 'Customer 1498' }).isChecked()).toBe(true);
  await search.fill('customer 1499');
  await form.getByRole('button', { name: 'Customer 1499' }).waitFor();
  await person.accessible('the form of a link with many projects');
  await person.seen('console-project-choices');
  await search.press('Enter');
  await expect.poll(() => form.getByRole('checkbox').count()).toBe(2);
  await form.getByRole('checkbox', { name: 'Customer 1499' }).uncheck();
  await form.getByLabel('Who will use it').fill('Customer 1498');
  await form.getByRole('button', { name: 'Create', exact: true }).click();
  await page.getByText('shown only this once').waitFor();
  const { sessions } = await manage<{ sessions: { name: string; project_ids: string[] }[] }>('GET', '/sessions?limit=1');
  expect(sessions[0]).toMatchObject({ name: 'Customer 1498', project_ids: [expect.any(String)] });
  await person.close();
});

test('one of many organizations is found in the list, for a project and for its usage', async () => {
  const person = await Person.arrive(browser);
  const page = await signIn(person, 'owner', '/organizations');
  const rows = page.getByRole('table', { name: 'Organizations' }).getByRole('row');
  await expect.poll(() => rows.count()).toBe(101);
  await page.getByLabel('Name or ID').fill('payer 149');
  await page.keyboard.press('Enter');
  await expect.poll(() => rows.count()).toBe(2);

  await page.goto(address('/projects'));
  await page.getByRole('button', { name: 'Create a project' }).click();
  const form = page.getByRole('dialog', { name: 'Create a project' });
  await form.getByLabel('Name', { exact: true }).fill('For Payer 149');
  await form.getByLabel('Find an organization').fill('payer 149');
  await form.getByRole('button', { name: 'Payer 149' }).click();
  await form.getByText('Payer 149').waitFor();
  await person.accessible('the form of a project with many organizations');
  await form.getByRole('button', { name: 'Create the project' }).click();
  await page.getByRole('dialog', { name: 'The keys of For Payer 149' }).waitFor();

  await page.goto(address('/usage'));
  await page.getByLabel('Find an organization').fill('payer 149');
  await page.getByLabel('Find an organization').press('Enter'); // before the matches are there
  await page.waitForURL(/organization=/);
  const projects = page.getByRole('table', { name: 'Usage by project' });
  await projects.getByRole('link', { name: 'For Payer 149' }).waitFor();
  const csv = page.getByRole('button', { name: 'Download CSV by project' });
  const [download] = await Promise.all([page.waitForEvent('download'), csv.click()]);
  expect(readFileSync(await download.path(), 'utf8')).toContain('For Payer 149');
  await person.seen('console-usage-by-project');
  await person.close();
});
