import { describe, expect, test } from 'vitest';
import { desktop, Person, phone } from './browser';
import { browser, closeAll, server, setUp } from './fixture';

setUp();

describe.each([
  { name: 'light', dark: false },
  { name: 'dark', dark: true },
])('the reference, $name', ({ name, dark }) => {
  test.each([
    { version: 'v3', operation: '/rooms/create_quick_audio_room', summary: 'Create a quick audio room' },
    { version: 'v4', operation: '/projects/update_project_status', summary: 'Activate or deactivate the project' },
    { version: 'v5', operation: '/requests', summary: 'Recent version 5 calls of the project' },
  ])('$version shows its operations to everybody, and asks no other host', async ({ version, operation, summary }) => {
    const reader = await Person.arrive(browser, { dark });
    await reader.open(`${server.url}/docs/${version}`);
    const entry = reader.page.locator('.opblock', { has: reader.page.locator(`[data-path="${operation}"]`) });
    await entry.getByText(summary).waitFor();
    await entry.locator('.opblock-summary-control').click();
    await entry.getByRole('heading', { name: 'Responses' }).waitFor();
    await reader.seen(`docs-${version}-${name}`);
    await closeAll([reader]);
  });
});

describe('the guides', () => {
  const pages = ['', '/signing', '/examples', '/meetings', '/webhooks', '/errors', '/versions'];
  const looks = [
    { name: 'phone-dark', viewport: phone, dark: true },
    { name: 'desktop-light', viewport: desktop, dark: false },
  ];

  test.each(looks)('are accessible: $name', async ({ name, ...look }) => {
    const reader = await Person.arrive(browser, look);
    for (const page of pages) {
      await reader.open(`${server.url}/docs${page}`);
      await reader.seen(`docs${page.replace('/', '-')}-${name}`);
    }
    await closeAll([reader]);
  });

  test('lead to the test vectors', async () => {
    const reader = await Person.arrive(browser);
    await reader.open(`${server.url}/docs/signing`);
    await reader.page.getByRole('link', { name: 'vectors.json' }).click();
    await reader.page.waitForURL(`${server.url}/docs/vectors.json`);
    expect(await reader.page.textContent('body')).toContain('SVC-HMAC-V5-1');
    await reader.close();
  });
});
