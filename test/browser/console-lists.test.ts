import { readFileSync } from 'node:fs';
import { beforeAll, expect, test } from 'vitest';
import { Person } from './browser';
import { address, makeTokens, manage, project, setUpConsole, signIn, tokens } from './console';
import { browser, server } from './fixture';

setUpConsole();

beforeAll(makeTokens);

test('the usage is downloaded, and API calls are filtered', async () => {
  const person = await Person.arrive(browser);
  const page = await signIn(person, 'integrator', `/usage?project=${project}`);
  const [download] = await Promise.all([page.waitForEvent('download'), page.getByRole('button', { name: 'Download CSV' }).click()]);
  expect(readFileSync(await download.path(), 'utf8').split('\n').length).toBeGreaterThan(2);
  expect(download.suggestedFilename()).toContain(`usage-${project}-`);
  await page.goto(address(`/requests?project=${project}`));
  await page.getByLabel('Status').selectOption('5xx');
  await page.getByText('No API call matches').waitFor();
  await page.getByText('Calls of version 5 with an unknown key belong to no project').waitFor();
  await person.close();

  // Filters of one project do not stay without their controls when all projects are chosen.
  const operator = await Person.arrive(browser);
  const all = await signIn(operator, 'operator', `/requests?project=${project}&version=v4&key_slot=current`);
  await all.getByRole('button', { name: 'Clear filters' }).waitFor();
  await all.goto(address('/requests?version=v4&key_slot=current'));
  await all.getByRole('table', { name: 'API calls' }).getByRole('row').nth(1).waitFor();
  expect(await all.getByRole('button', { name: 'Clear filters' }).count()).toBe(0);
  await operator.close();
});

test('the figures of a project are never shown under the name of another one', async () => {
  const { project_id: other } = await manage<{ project_id: string }>('POST', '/projects', {
    organization_id: server.quickstart.organization_id,
    name: 'Lessons of the night',
  });
  const person = await Person.arrive(browser);
  const page = await signIn(person, 'operator', `/usage?project=${project}`);
  // The stream of updates would bring the figures as well.
  await page.route(
    ({ pathname }) => pathname === '/api/manage/stream',
    (route) => route.abort(),
  );
  const figures = page.locator('dl.figures');
  for (const name of ['usage', 'overview']) {
    await page.goto(address(`/${name}?project=${project}`));
    await figures.waitFor();
    let answer: (status: number) => void = () => undefined;
    const held = ({ pathname, searchParams }: URL) => pathname === `/api/manage/${name}` && searchParams.get('project_id') === other;
    await page.route(held, async (route) => {
      const status = await new Promise<number>((resolve) => {
        answer = resolve;
      });
      await route.fulfill({ status, json: { error: { code: 'unavailable', message: 'the database is not available' } } });
    });
    await page.evaluate(
      (to) => {
        history.pushState(null, '', to);
        dispatchEvent(new PopStateEvent('popstate'));
      },
      address(`/${name}?project=${other}`),
    );
    await page.getByText('Loading…').waitFor();
    expect(await figures.count()).toBe(0);
    answer(503);
    await page.getByRole('alert').getByText('The database is not available').waitFor();
    expect(await figures.count()).toBe(0);
    expect(await page.getByRole('button', { name: 'Download CSV' }).count()).toBe(0);
    await page.unroute(held);
    await page.getByRole('button', { name: 'Try again' }).click();
    await figures.waitFor();
  }
  await person.close();
});

test('on a phone, the filters open when asked, and stay open', async () => {
  const person = await Person.arrive(browser, { viewport: { width: 320, height: 640 } });
  const page = await signIn(person, 'auditor', `/requests?project=${project}`);
  await page.getByRole('table').waitFor();
  const status = page.getByLabel('Status');
  expect(await status.isVisible()).toBe(false);
  await page.getByText('Filters', { exact: true }).press('Enter');
  await status.selectOption('2xx');
  await page.getByText('Filters (1)', { exact: true }).waitFor();
  // The table is pale while it is loaded.
  await page.locator('.table-box[aria-busy="true"]').waitFor({ state: 'detached' });
  await person.accessible('the open filters on a phone');
  await person.seen('console-requests-filters-phone');
  await page.getByLabel('From', { exact: true }).fill('2100-01-01 10:05');
  await page.getByLabel('From', { exact: true }).press('Enter');
  await page.getByText('No API call matches').waitFor();
  await page.getByRole('button', { name: 'Clear filters' }).click();
  await page.getByText('Filters', { exact: true }).waitFor();
  await person.close();
});

test('a filter that somebody writes is kept when the window changes its width', async () => {
  const person = await Person.arrive(browser, { viewport: { width: 1024, height: 640 } });
  const page = await signIn(person, 'auditor', `/requests?project=${project}`);
  const cause = page.getByLabel('Cause', { exact: true });
  const fold = page.getByRole('button', { name: /^Filters/ });
  await page.getByRole('table').waitFor();
  expect(await fold.isVisible()).toBe(false);
  await cause.pressSequentially('bad_');
  for (const width of [320, 1024, 320]) {
    await page.setViewportSize({ width, height: 640 });
    await expect.poll(() => fold.isVisible()).toBe(width === 320);
    expect(await cause.inputValue()).toBe('bad_');
    expect(await cause.isVisible()).toBe(true);
    expect(await cause.evaluate((element) => element === document.activeElement)).toBe(true);
  }
  await fold.click();
  await cause.waitFor({ state: 'hidden' });
  await page.setViewportSize({ width: 1024, height: 640 });
  await cause.waitFor();
  await person.close();
});

test('the overview opens the rejected API calls that it counts, whose causes are counted', async () => {
  for (const route of ['create_quick_audio_room', 'create_quick_video_room', 'create_quick_audio_room']) {
    await fetch(`${server.url}/api/v3/rooms/${route}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'hash-signature': 'd3Jvbmc=' },
      body: JSON.stringify({ project_id: project }),
    });
  }
  // A rejected call of the integrator to the management API concerns the project, but is not counted.
  await fetch(`${server.url}/api/manage/webhooks?project_id=${project}&state=late`, {
    headers: { authorization: `Bearer ${tokens.integrator}` },
  });
  const listed = async (version: string): Promise<number> => {
    const { calls } = await manage<{ calls: unknown[] }>(
      'GET',
      `/calls?project_id=${project}&status=rejected&version=${version}&limit=100`,
    );
    return calls.length;
  };
  await expect.poll(() => listed('manage'), { timeout: 60_000 }).toBeGreaterThan(0);
  await expect.poll(() => listed('backend'), { timeout: 60_000 }).toBeGreaterThanOrEqual(3);
  const rejected = await listed('backend');
  const person = await Person.arrive(browser);
  const page = await signIn(person, 'auditor', `?project=${project}`);
  const counted = page.locator('.figure', { hasText: 'Rejected API calls' }).getByRole('link');
  await expect.poll(async () => Number(await counted.textContent()), { timeout: 60_000 }).toBe(rejected);
  await counted.click();
  await page.waitForURL(/status=rejected&version=backend&from=/);
  const shown = page.getByRole('combobox', { name: 'API', exact: true }).locator('option:checked');
  expect(await shown.textContent()).toBe('Versions 3 to 5');
  const causes = page.getByRole('region', { name: `Most frequent causes of ${rejected} API calls` });
  await causes.getByText('/api/v3/rooms/create_quick_video_room').waitFor();

  // The rows stay while those of another search load, but the causes of the rows before are not counted as its own.
  const another = ({ pathname, searchParams }: URL): boolean => pathname.endsWith('/calls') && searchParams.get('status') === '5xx';
  await page.route(another, () => undefined);
  await page.getByLabel('Status').selectOption('5xx');
  await page.locator('.table-box[aria-busy="true"]').waitFor();
  expect(await page.getByText('Most frequent causes').count()).toBe(0);
  await page.getByLabel('Status').selectOption('rejected');
  await causes.waitFor();

  await person.seen('console-requests-causes');
  await person.accessible('the causes of rejected API calls');

  // Of more API calls than a page has, the command counts the causes. The stream of updates would bring the page without a cursor.
  const withOlder = ({ pathname }: URL): boolean => pathname === '/api/manage/calls';
  const stream = ({ pathname }: URL): boolean => pathname === '/api/manage/stream';
  await page.route(stream, (route) => route.abort());
  await page.route(withOlder, async (route) => {
    const response = await route.fetch();
    await route.fulfill({ response, json: { ...(await response.json()), next_cursor: 'older' } });
  });
  await page.reload();
  const newest = page.getByRole('region', { name: `Most frequent causes of the newest ${rejected} API calls` });
  await newest.getByText(`parley calls --by cause --project ${project} --version backend --since 20`).waitFor();
  await person.seen('console-requests-causes-newest');
  await page.unroute(withOlder);
  await page.unroute(stream);
  await page.reload();

  const cause = causes.getByRole('listitem').filter({ hasText: 'create_quick_audio_room' });
  await cause.getByRole('link', { name: 'Signature missing or wrong' }).click();
  await page.waitForURL(/cause=bad_signature&route=/);
  await causes.waitFor({ state: 'hidden' });
  const rows = page.getByRole('table').getByRole('row');
  const others = rows.filter({ hasText: 'create_quick_video_room' });
  await expect.poll(() => others.count()).toBe(0);
  await rows.nth(1).getByRole('link').click();
  await page.getByRole('link', { name: 'All API calls with this cause' }).click();
  await others.first().waitFor();
  await person.close();
});

test('an API call is found by its request ID in all projects', async () => {
  const { calls } = await manage<{ calls: { request_id: string; path: string }[] }>('GET', `/calls?project_id=${project}`);
  const one = calls[0];
  if (!one) throw new Error('no API call is recorded');
  const person = await Person.arrive(browser);
  const page = await signIn(person, 'auditor', '/requests');
  await page.getByLabel('Request ID').fill(one.request_id);
  await page.getByLabel('Request ID').press('Enter');
  await page.getByRole('columnheader', { name: 'Project' }).waitFor();
  await page.getByRole('table').getByRole('link', { name: one.path }).click();
  await page.getByText(`parley calls --project ${project} --request ${one.request_id}`).waitFor();
  await person.close();
});

test('a span of time ends now, also on a page that was opened long ago', async () => {
  const person = await Person.arrive(browser);
  const { clock } = person.page;
  await clock.install();
  const page = await signIn(person, 'auditor', `/requests?project=${project}`);
  const opened = Date.now();
  const hour = 3_600_000;
  const sinceOf = (url: string): number => Date.parse(new URL(url).searchParams.get('since') ?? '');
  const requested = (after: number) =>
    page.waitForRequest((request) => new URL(request.url()).pathname === '/api/manage/calls' && sinceOf(request.url()) > after);
  await clock.fastForward('03:00:00');
  const chosen = requested(opened + 1.5 * hour);
  await page.getByLabel('Time').selectOption('Last hour');
  await chosen;
  const later = requested(opened + 2.5 * hour);
  await clock.fastForward('01:00:00');
  await later;
  await person.close();
});

test('a link to a list of a time shows the same list in another time zone', async () => {
  const [york, tokyo] = [
    await Person.arrive(browser, { timeZone: 'America/New_York' }),
    await Person.arrive(browser, { timeZone: 'Asia/Tokyo' }),
  ];
  for (const one of [york, tokyo]) await signIn(one, 'auditor');
  for (const [path, label, name] of [
    [`/requests?project=${project}`, 'From', 'from'],
    ['/rooms', 'Ran before', 'to'],
  ] as const) {
    const { page } = york;
    await page.goto(address(path));
    await page.getByLabel(label, { exact: true }).fill('2026-01-02 20:05');
    await page.getByLabel(label, { exact: true }).press('Enter');
    await page.waitForURL((url) => url.searchParams.get(name) === '2026-01-03T01:05:00.000Z');
    await expect.poll(() => page.getByLabel(label, { exact: true }).inputValue()).toBe('2026-01-02 20:05');
    await tokyo.page.goto(page.url());
    await expect.poll(() => tokyo.page.getByLabel(label, { exact: true }).inputValue()).toBe('2026-01-03 10:05');
    expect(tokyo.page.url()).toBe(page.url());
  }
  await york.close();
  await tokyo.close();
});
