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
