import { describe, expect, test } from 'vitest';
import { desktop, Person, phone } from './browser';
import { browser, closeAll, server, setUp } from './fixture';

setUp();

/** The names of the guides in their addresses. */
const guides =
  ' quickstart sdks signing concepts recipes meetings webhooks testing embedding examples errors versions changelog migrating'.split(' ');
const references = ['v3', 'v4', 'v5'];
const address = (name: string): string => (name ? `${server.url}/docs/${name}` : `${server.url}/docs`);

const themes = [
  { name: 'light', dark: false },
  { name: 'dark', dark: true },
];
const looks = themes.flatMap(({ name, dark }) => [
  { name: `phone-${name}`, viewport: phone, dark },
  { name: `desktop-${name}`, viewport: desktop, dark },
]);

describe.each(themes)('the reference, $name', ({ name, dark }) => {
  test.each([
    { version: 'v3', operation: '/rooms/create_quick_audio_room', summary: 'Create a quick audio room' },
    { version: 'v4', operation: '/projects/update_project_status', summary: 'Activate or deactivate the project' },
    { version: 'v5', operation: '/requests', summary: 'Recent version 5 calls of the project' },
  ])('$version shows its operations to everybody, and asks no other host', async ({ version, operation, summary }) => {
    const reader = await Person.arrive(browser, { dark });
    await reader.open(address(version));
    const entry = reader.page.locator('.opblock', { has: reader.page.locator(`[data-path="${operation}"]`) });
    await entry.getByText(summary).waitFor();
    await entry.locator('.opblock-summary-control').click();
    await entry.getByRole('heading', { name: 'Responses' }).waitFor();
    await entry.locator('.signed-with').getByText('hash-signature').waitFor();
    // Only the filter is a field, because the page sends no calls.
    expect(await reader.page.locator('#reference :is(input, select, textarea)').count()).toBe(1);
    await reader.seen(`docs-${version}-${name}`);
    await closeAll([reader]);
  });
});

describe('the reference', () => {
  test('opens the operation of an address, and of another address on the same page', async () => {
    const reader = await Person.arrive(browser);
    const { page } = reader;
    await reader.open(`${address('v4')}#/companion/endRoom`);
    await page.locator('#operations-companion-endRoom .opblock-body').waitFor();
    await page.getByRole('combobox', { name: 'Search the documentation' }).fill('v4 join_room');
    await page.getByRole('option', { name: 'POST /api/v4/rooms/join_room' }).click();
    await page.locator('#operations-companion-joinRoom .opblock-body').waitFor();
    await closeAll([reader]);
  });

  test('filters its operations, and fits a phone in both themes', async () => {
    for (const { name, dark } of themes) {
      const reader = await Person.arrive(browser, { viewport: phone, dark });
      await reader.open(address('v4'));
      await reader.page.getByLabel('Filter by tag or path').fill('companion');
      await reader.page.locator('[data-path="/projects/update_project_status"]').waitFor({ state: 'detached' });
      await reader.page.locator('[data-path="/rooms/join_room"]').waitFor();
      await reader.seen(`docs-v4-phone-${name}`);
      await closeAll([reader]);
    }
  });
});

describe('the guides', () => {
  test.each(looks)('are accessible: $name', async ({ name, ...look }) => {
    const reader = await Person.arrive(browser, look);
    for (const guide of guides) {
      await reader.open(address(guide));
      await reader.seen(`docs-${guide || 'index'}-${name}`);
    }
    await closeAll([reader]);
  });

  test('lead to the test vectors', async () => {
    const reader = await Person.arrive(browser);
    await reader.open(address('signing'));
    await reader.page.getByRole('main').getByRole('link', { name: 'vectors.json' }).click();
    await reader.page.waitForURL(`${server.url}/docs/vectors.json`);
    expect(await reader.page.textContent('body')).toContain('SVC-HMAC-V5-1');
    await reader.close();
  });

  test('have links and anchors that exist, on pages and in Markdown', async () => {
    const pages = new Map<string, string>();
    const load = async (path: string): Promise<string> => {
      const known = pages.get(path);
      if (known !== undefined) return known;
      const response = await fetch(server.url + path);
      expect(response.status, path).toBe(200);
      pages.set(path, await response.text());
      return pages.get(path) ?? '';
    };
    const check = async (from: string, hrefs: IterableIterator<RegExpExecArray>): Promise<void> => {
      for (const [, href = ''] of hrefs) {
        const { pathname, hash } = new URL(href, server.url + from);
        const target = await load(pathname);
        // Swagger UI reads anchors with a slash.
        if (!hash || hash.startsWith('#/') || pathname.endsWith('.md')) continue;
        expect(target.includes(`id="${decodeURIComponent(hash.slice(1))}"`), `${from} links to ${href}`).toBe(true);
      }
    };
    for (const name of [...guides, ...references]) {
      const path = new URL(address(name)).pathname;
      await check(path, (await load(path)).matchAll(/<a [^>]*href="([^"]*)"/g));
    }
    for (const name of guides) {
      const path = `/docs/${name || 'index'}.md`;
      const prose = (await load(path)).replaceAll(/^```.*?^```$/gms, '');
      await check(path, prose.matchAll(/\]\(([^()\s]+)\)/g));
    }
    const index = await load('/docs/llms.txt');
    for (const name of guides) expect(index).toContain(`(/docs/${name || 'index'}.md)`);
    await check('/docs/llms.txt', index.matchAll(/\]\(([^()\s]+)\)/g));
  });

  test('follow each other, and each has a table of contents', async () => {
    const reader = await Person.arrive(browser);
    const { page } = reader;
    await reader.open(address('quickstart'));
    const contents = page.getByRole('navigation', { name: 'On this page' });
    const last = contents.getByRole('link').last();
    await last.click();
    const heading = page.getByRole('main').getByRole('heading', { name: (await last.textContent()) ?? '' });
    await expect.poll(() => heading.evaluate((one) => one.getBoundingClientRect().top < innerHeight)).toBe(true);
    await expect.poll(() => last.getAttribute('aria-current')).toBe('true');
    for (const [relation, path] of [
      ['next', '/docs/sdks'],
      ['next', '/docs/signing'],
      ['prev', '/docs/sdks'],
    ]) {
      await page.locator(`.pager [rel=${relation}]`).click();
      await page.waitForURL(server.url + path);
    }
    await reader.open(address('v5'));
    await page.locator('.pager [rel=next]').click();
    await page.waitForURL(address('errors'));
    await page.locator('.pager [rel=prev]').click();
    await page.waitForURL(address('v5'));
    const menu = page.getByRole('navigation', { name: 'Documentation' });
    expect(await menu.locator('[aria-current=page]').textContent()).toBe('Version 5');
    await closeAll([reader]);
  });
});

describe('the menu of a phone', () => {
  test('opens, leads to a page, and closes with Escape', async () => {
    const reader = await Person.arrive(browser, { viewport: phone, touch: true });
    const { page } = reader;
    await reader.open(address('signing'));
    const link = page.getByRole('navigation', { name: 'Documentation' }).getByRole('link', { name: 'Webhooks' });
    expect(await link.isVisible()).toBe(false);
    await reader.button('Menu').click();
    await link.waitFor();
    await reader.seen('docs-menu-phone');
    await page.keyboard.press('Escape');
    await link.waitFor({ state: 'hidden' });
    await reader.button('On this page').click();
    await reader.seen('docs-contents-phone');
    await page.getByRole('navigation', { name: 'On this page' }).getByRole('link', { name: 'Test vectors' }).click();
    expect(new URL(page.url()).hash).toBe('#test-vectors');
    await reader.button('Menu').click();
    await link.click();
    await page.waitForURL(address('webhooks'));
    await closeAll([reader]);
  });
});

describe('the tabs of examples', () => {
  test('are chosen with the keyboard, all at once, without moving the page', async () => {
    const reader = await Person.arrive(browser);
    const { page } = reader;
    await reader.open(address('quickstart'));
    const go = page.getByRole('tab', { name: 'Go', exact: true });
    const groups = await go.count();
    expect(groups).toBeGreaterThan(2);
    // Groups above the chosen one change their heights.
    const below = page.getByRole('tab', { name: 'TypeScript', exact: true }).nth(groups - 1);
    await below.scrollIntoViewIfNeeded();
    await below.focus();
    const top = (): Promise<number> => below.evaluate((tab) => Math.round(tab.getBoundingClientRect().top));
    const before = await top();
    await page.keyboard.press('End');
    expect(Math.abs((await top()) - before)).toBeLessThanOrEqual(1);
    expect(await page.evaluate(() => document.activeElement?.textContent)).toBe('Go');
    expect(await page.locator('[role=tab][aria-selected=true]').allTextContents()).toEqual(Array(groups).fill('Go'));
    expect(await page.locator('.tabs .code:visible').count()).toBe(groups);
    await page.keyboard.press('ArrowLeft');
    expect(await page.evaluate(() => document.activeElement?.textContent)).toBe('PHP');
    await closeAll([reader]);
  });

  test('are remembered over a reload and on another page', async () => {
    const reader = await Person.arrive(browser);
    const { page } = reader;
    await reader.open(address('quickstart'));
    await page.getByRole('tab', { name: 'Python' }).first().click();
    const selected = (): Promise<string[]> => page.locator('[role=tab][aria-selected=true]').allTextContents();
    expect(new Set(await selected())).toEqual(new Set(['Python']));
    await page.reload();
    expect(new Set(await selected())).toEqual(new Set(['Python']));
    const other = await reader.tab();
    for (const guide of guides) {
      await other.open(address(guide));
      const groups = other.page.locator('.tabs', { has: other.page.getByRole('tab', { name: 'Python', exact: true }) });
      const chosen = await groups.locator('[aria-selected=true]').allTextContents();
      expect(chosen, guide).toEqual(Array(await groups.count()).fill('Python'));
      if (guide === 'quickstart') expect(chosen.length).toBeGreaterThan(2);
    }
    await closeAll([reader, other]);
  });

  test('are all visible without scripts', async () => {
    const context = await browser.newContext({ javaScriptEnabled: false });
    const page = await context.newPage();
    await page.goto(address('quickstart'));
    const blocks = page.locator('.code pre');
    expect(await blocks.count()).toBeGreaterThan(8);
    for (const block of await blocks.all()) expect(await block.isVisible()).toBe(true);
    expect(await page.getByRole('tab').count()).toBe(0);
    await context.close();
  });
});

describe('the values of the reader', () => {
  const projectID = '0197c9b4-5a3e-7c11-b1a4-6c0b5d7f2e10';

  test('are in the examples and in what is copied, on this server only', async () => {
    const reader = await Person.arrive(browser);
    const { page } = reader;
    await reader.context.grantPermissions(['clipboard-read', 'clipboard-write'], { origin: server.url });
    await reader.open(address('quickstart'));
    const block = page.locator('.code', { hasText: 'PARLEY_PROJECT_ID' }).first();
    expect(await block.textContent()).toContain(`PARLEY_URL=${server.url}`);
    await page.getByLabel('Project ID').fill(projectID);
    await page.getByLabel('API key').fill('pk_0123456789abcdef');
    await reader.button('Save').click();
    await page.getByText('Saved in this browser.').waitFor();
    await page.reload();
    expect(await page.getByLabel('Project ID').inputValue()).toBe(projectID);
    await block.getByRole('button', { name: 'Copy' }).click();
    await block.getByRole('button', { name: 'Copied' }).waitFor();
    await page.getByRole('status').filter({ hasText: 'Copied' }).waitFor();
    const copied = await page.evaluate(() => navigator.clipboard.readText());
    expect(copied).toContain(`export PARLEY_URL=${server.url}\nexport PARLEY_PROJECT_ID=${projectID}\n`);
    expect(copied).not.toMatch(/Copy|Shell/);
    await block.getByRole('button', { name: 'Copy' }).waitFor();
    await reader.button('Clear').click();
    expect(await block.textContent()).toContain('PARLEY_PROJECT_ID={{project_id}}');
    expect(reader.requests.filter((url) => url.includes(projectID))).toEqual([]);
    await closeAll([reader]);
  });

  test('are copied on pages without TLS, which have no clipboard', async () => {
    const reader = await Person.arrive(browser);
    const { page } = reader;
    await reader.context.grantPermissions(['clipboard-read'], { origin: server.url });
    await page.addInitScript(() => Object.defineProperty(navigator, 'clipboard', { value: undefined }));
    await reader.open(address('quickstart'));
    const install = page.getByRole('tabpanel').first();
    await install.getByRole('button', { name: 'Copy' }).click();
    await install.getByRole('button', { name: 'Copied' }).waitFor();
    const other = await reader.tab();
    await other.open(address(''));
    await other.page.bringToFront();
    const copied = await other.page.evaluate(() => navigator.clipboard.readText());
    expect(copied).toContain(`npm install ${server.url}/`);
    await closeAll([reader, other]);
  });

  test('are no secrets', async () => {
    const reader = await Person.arrive(browser);
    const { page } = reader;
    await reader.open(address('signing'));
    for (const secret of ['gs_0123', 'whsec_AAAA']) {
      await page.getByLabel('API key').fill(secret);
      await reader.button('Save').click();
      await page.getByRole('alert').filter({ hasText: 'This is a secret.' }).waitFor();
      expect(await page.getByLabel('API key').inputValue()).toBe('');
      const alert = await page.getByRole('alert').getAttribute('id');
      expect(await page.getByLabel('API key').getAttribute('aria-describedby')).toBe(alert);
    }
    expect(await page.evaluate(() => JSON.stringify(localStorage))).not.toMatch(/gs_|whsec_/);
    await reader.seen('docs-secret-refused');
    await closeAll([reader]);
  });
});

describe('the search', () => {
  test('is used with the keyboard alone', async () => {
    const reader = await Person.arrive(browser);
    const { page } = reader;
    await reader.open(address(''));
    expect(reader.requests.filter((url) => /search/i.test(url))).toEqual([]);
    await page.keyboard.press('Control+k');
    await page.keyboard.type('SVC_UNAUTHORIZED');
    const field = page.getByRole('combobox', { name: 'Search the documentation' });
    await page.getByRole('option', { name: '401 · SVC_UNAUTHORIZED' }).waitFor();
    expect(await field.getAttribute('aria-expanded')).toBe('true');
    await page.keyboard.press('Escape');
    expect(await field.getAttribute('aria-expanded')).toBe('false');
    expect(await field.inputValue()).toBe('SVC_UNAUTHORIZED');

    await field.fill('webhook');
    await expect.poll(() => page.getByRole('option').count()).toBeGreaterThan(2);
    await page.keyboard.press('ArrowDown');
    const second = page.getByRole('option').nth(1);
    expect(await second.getAttribute('aria-selected')).toBe('true');
    expect(await field.getAttribute('aria-activedescendant')).toBe(await second.getAttribute('id'));
    const target = await second.getAttribute('href');
    await reader.seen('docs-search');
    await page.keyboard.press('Enter');
    await page.waitForURL(server.url + target);
    await closeAll([reader]);
  });

  test.each(themes)('says that there are no results, on a phone too: $name', async ({ name, dark }) => {
    const reader = await Person.arrive(browser, { viewport: phone, dark });
    await reader.open(address('errors'));
    const field = reader.page.getByRole('combobox', { name: 'Search the documentation' });
    await field.fill('invalid signature');
    await reader.page.getByRole('option').first().waitFor();
    await reader.seen(`docs-search-phone-${name}`);
    await field.fill('zebra crossing');
    await reader.page.getByRole('status').filter({ hasText: 'No results for “zebra crossing”.' }).waitFor();
    await reader.page.locator('.results .message').waitFor();
    await reader.seen(`docs-search-nothing-${name}`);
    await closeAll([reader]);
  });
});

describe('the theme', () => {
  const background = (reader: Person): Promise<string> =>
    reader.page.evaluate(() => getComputedStyle(document.documentElement).backgroundColor);
  const light = 'rgb(245, 244, 240)';
  const dark = 'rgb(21, 23, 26)';

  test('follows the system until the reader chooses one for all pages', async () => {
    const reader = await Person.arrive(browser, { dark: true });
    const { page } = reader;
    const choice = page.getByLabel('Theme');
    await reader.open(address('signing'));
    expect(await background(reader)).toBe(dark);
    await choice.selectOption('Light');
    expect(await background(reader)).toBe(light);
    await reader.open(address('v4'));
    await page.locator('.opblock').first().waitFor();
    expect(await choice.inputValue()).toBe('light');
    expect(await background(reader)).toBe(light);
    await choice.selectOption('Dark');
    await page.emulateMedia({ colorScheme: 'light' });
    expect(await background(reader)).toBe(dark);
    await reader.seen('docs-v4-chosen-dark');
    await choice.selectOption('System');
    expect(await background(reader)).toBe(light);
    await page.emulateMedia({ colorScheme: 'dark' });
    expect(await background(reader)).toBe(dark);
    await closeAll([reader]);
  });
});
