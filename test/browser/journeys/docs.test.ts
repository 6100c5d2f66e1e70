import { expect, test } from 'vitest';
import { Person } from '../browser';
import { browser, closeAll, server, setUp } from '../fixture';

setUp();

test('an integrator finds a page, chooses a language, and copies an example', async () => {
  const reader = await Person.arrive(browser);
  const { page } = reader;
  await reader.context.grantPermissions(['clipboard-read', 'clipboard-write'], { origin: server.url });
  await reader.open(`${server.url}/docs`);
  await page.getByRole('combobox', { name: 'Search the documentation' }).fill('quick start');
  await page.getByRole('option', { name: 'Quick start' }).first().waitFor();
  await page.keyboard.press('Enter');
  await page.waitForURL(`${server.url}/docs/quickstart`);
  await page.getByRole('tab', { name: 'Python' }).first().click();
  await page.reload();
  const install = page.getByRole('tabpanel', { name: 'Python' }).first();
  await install.getByRole('button', { name: 'Copy' }).click();
  await install.getByRole('button', { name: 'Copied' }).waitFor();
  expect(await page.evaluate(() => navigator.clipboard.readText())).toContain(`pip install ${server.url}/docs/sdk/`);
  await reader.seen('journey-docs');
  await closeAll([reader]);
});
