import { beforeAll, expect, test } from 'vitest';
import { Person } from './browser';
import { makeTokens, manage, setUpConsole, signIn } from './console';
import { browser, server } from './fixture';

setUpConsole();

/** More projects than a stream of the console can send at once. */
const count = 1_500;

beforeAll(async () => {
  await makeTokens();
  const names = Array.from({ length: count }, (_, n) => `Customer ${n + 1}`);
  const create = async (): Promise<void> => {
    for (let name = names.shift(); name; name = names.shift()) {
      await manage('POST', '/projects', { organization_id: server.quickstart.organization_id, name });
    }
  };
  await Promise.all(Array.from({ length: 16 }, create));
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

  await page.getByLabel('Name or ID').fill('customer 1499');
  await page.keyboard.press('Enter');
  await expect.poll(() => rows.count()).toBe(2);
  await page.getByRole('link', { name: 'Customer 1499' }).click();
  await page.getByRole('heading', { level: 1, name: 'Customer 1499' }).waitFor();
  await page.goBack();
  await manage('POST', '/projects', { organization_id: server.quickstart.organization_id, name: 'Came later' });
  await page.getByLabel('Name or ID').fill('came');
  await page.keyboard.press('Enter');
  await page.reload();
  await page.getByRole('link', { name: 'Came later' }).waitFor();
  await page.getByLabel('Name or ID').fill('customer');
  await page.keyboard.press('Enter');
  await page.getByText('1,500 projects match. The first 100 are shown.').waitFor();
  await page.getByLabel('Name or ID').fill('nobody');
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: 'No project matches' }).waitFor();
  await page.getByRole('button', { name: 'Clear filters' }).click();
  await expect.poll(() => rows.count()).toBe(101);
  await person.close();
});

test('one of many projects is found for the link of a customer', async () => {
  const person = await Person.arrive(browser);
  const page = await signIn(person, 'owner', '/team?view=sessions');
  await page.getByRole('button', { name: 'Create a sign-in link' }).click();
  const form = page.getByRole('dialog', { name: 'Create a sign-in link' });
  const choices = form.getByRole('checkbox');
  await expect.poll(() => choices.count()).toBe(20);
  const search = form.getByLabel('Find a project by its name or ID');
  await search.fill('customer 1498');
  await expect.poll(() => choices.count()).toBe(1);
  await page.keyboard.press('Enter');
  await form.getByLabel('Customer 1498').check();
  await search.fill('customer 149');
  await expect.poll(() => choices.count()).toBe(11); // the chosen one, and the other ten that match
  expect(await form.getByLabel('Customer 1498').isChecked()).toBe(true);
  await person.accessible('the form of a link with many projects');
  await person.seen('console-project-choices');
  await form.getByLabel('Who will use it').fill('Customer 1498');
  await form.getByRole('button', { name: 'Create', exact: true }).click();
  await page.getByText('shown only this once').waitFor();
  const { sessions } = await manage<{ sessions: { name: string; project_ids: string[] }[] }>('GET', '/sessions?limit=1');
  expect(sessions[0]).toMatchObject({ name: 'Customer 1498', project_ids: [expect.any(String)] });
  await person.close();
});
