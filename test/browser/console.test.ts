import { execFileSync } from 'node:child_process';
import { createHmac } from 'node:crypto';
import { resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { desktop, Person } from './browser';
import { address, manage, project, roles, setUpConsole, signIn } from './console';
import { deliveryID, longTitle, makePages, openPage, pages, receiver, room } from './console-pages';
import { browser, server } from './fixture';

setUpConsole();

const binary = resolve(import.meta.dirname, '../../bin/parley');

beforeAll(makePages, 180_000);

afterAll(() => receiver.close());

describe.each([
  { name: 'light-desktop', dark: false, viewport: desktop },
  { name: 'dark-desktop', dark: true, viewport: desktop },
  { name: 'light-phone', dark: false, viewport: { width: 390, height: 844 } },
  { name: 'dark-phone', dark: true, viewport: { width: 320, height: 640 } },
])('the pages, $name', ({ name, ...look }) => {
  test.each(roles)('are accessible and do not scroll sideways for the role %s', async (role) => {
    const person = await Person.arrive(browser, look);
    if (role === 'owner') {
      await person.page.goto(address(''));
      await person.page.getByLabel('Management token').waitFor();
      await person.seen(`console-sign-in-${name}`);
    }
    const page = await signIn(person, role);
    for (const { name: of, path, shows, not } of pages()) {
      if (not?.includes(role)) continue;
      await page.goto(address(path));
      await page.locator('#content').getByText(shows).or(page.getByLabel(shows)).first().waitFor();
      await person.seen(`console-${of}-${role}-${name}`);
    }
    await person.close();
  });
});

test.each(roles)('the pages and buttons are those that the role may use: %s', async (role) => {
  const person = await Person.arrive(browser);
  const page = await signIn(person, role);
  const links = await page.getByRole('navigation', { name: 'Pages' }).getByRole('link').allTextContents();
  expect(links.includes('Audit log')).toBe(role !== 'integrator');
  expect(links.includes('Team')).toBe(role !== 'integrator');
  for (const { path, shows, not } of pages()) {
    if (not?.includes(role)) continue;
    await page.goto(address(path));
    await page.locator('#content').getByText(shows).or(page.getByLabel(shows)).first().waitFor();
    expect(await page.getByRole('alert').filter({ hasText: /./ }).allTextContents(), `${path} as ${role}`).toEqual([]);
  }
  const changes = role !== 'auditor';
  await page.goto(address(`/rooms/${room.room_id}`));
  await page.getByRole('heading', { name: longTitle }).waitFor();
  expect(await page.getByRole('button', { name: 'End the room' }).count()).toBe(changes ? 1 : 0);
  await page.goto(address(`/projects/${project}`));
  await page.getByText('Wait before you end the old key pair').waitFor();
  expect(await page.getByRole('button', { name: 'Rotate the API key' }).count()).toBe(changes ? 1 : 0);
  expect(await page.getByRole('button', { name: 'Suspend the project' }).count()).toBe(role === 'owner' || role === 'operator' ? 1 : 0);
  if (role === 'integrator') {
    await page.goto(address('/projects'));
    await page.getByRole('link', { name: 'My project' }).waitFor();
    expect(await page.getByText('Of somebody else').count()).toBe(0);
  }
  await person.close();
});

test('an integrator whose projects were deleted reads on every page who can help', async () => {
  const person = await Person.arrive(browser);
  await person.page.route('**/api/manage/stream**', (route) => route.abort()); // it has the real list
  await person.page.route('**/api/manage/projects*', (route) => route.fulfill({ json: { projects: [] } }));
  const page = await signIn(person, 'integrator');
  for (const path of ['', '/rooms', '/requests', '/webhooks', '/usage', '/projects', '/signature']) {
    await page.goto(address(path));
    await page.getByRole('heading', { name: 'You have no project' }).waitFor();
    expect(await page.getByText('Loading…').count(), path).toBe(0);
  }
  await person.seen('console-no-project');
  await person.close();
});

test('without an organization, the usage says what to do', async () => {
  const person = await Person.arrive(browser);
  await person.page.route('**/api/manage/organizations*', (route) => route.fulfill({ json: { organizations: [] } }));
  const page = await signIn(person, 'operator', '/usage');
  await page.getByRole('heading', { name: 'No organizations yet' }).waitFor();
  expect(await page.getByText('Loading…').count()).toBe(0);
  await person.close();
});

describe('signing in', () => {
  test('returns to the page that was asked for, and out again', async () => {
    const person = await Person.arrive(browser);
    const page = await signIn(person, 'auditor', '/nodes');
    await page.getByRole('heading', { name: 'Nodes' }).waitFor();
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
    await page.goto(address('/rooms'));
    await page.getByLabel('Management token').fill('pt_wrong');
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('alert').getByText('This server does not know this management token.').waitFor();
    const token = page.getByLabel('Management token');
    expect(await token.getAttribute('aria-invalid')).toBe('true');
    await token.fill('pt_other');
    expect(await token.getAttribute('aria-invalid')).toBe('false');
    await person.close();
  });

  test('works once with a link from the command line, whose code leaves the address', async () => {
    const flags = ['--role', 'auditor', '--data-dir', server.dataDir, '--url', server.url];
    const printed = execFileSync(binary, ['console', ...flags]).toString();
    const code = /#code=(\S+)/.exec(printed)?.[1] ?? '';
    const person = await Person.arrive(browser);
    await person.page.goto(address(`/sign-in#code=${code}`));
    await person.page.getByRole('heading', { name: 'Overview' }).waitFor();
    expect(person.page.url()).toBe(address(''));
    await person.page.locator('.account').getByText('Auditor').waitFor();
    await person.page.getByRole('link', { name: 'Audit log' }).waitFor();
    const another = await Person.arrive(browser);
    await another.page.goto(address(`/sign-in#code=${code}`));
    await another.page.getByRole('alert').getByText(/link/i).waitFor();
    await person.close();
    await another.close();
  });

  test('is asked for again when the session is revoked', async () => {
    const person = await Person.arrive(browser);
    const page = await signIn(person, 'operator', '/rooms');
    await page.getByText('Updates live').waitFor();
    const { sessions } = await manage<{ sessions: { session_id: string; name: string }[] }>('GET', '/sessions');
    for (const { session_id, name } of sessions) {
      if (name === 'test operator') await manage('POST', `/sessions/${session_id}/revoke`);
    }
    await page.getByText('Your session has ended. Sign in again to return to this page.').waitFor();
    expect(page.url()).toBe(address('/rooms'));
    await person.close();
  });
});

describe('actions', () => {
  test('name what they do, and end a room that the page then shows as ended', async () => {
    const person = await Person.arrive(browser);
    const page = await signIn(person, 'operator', `/rooms/${room.room_id}`);
    await page.getByRole('button', { name: 'End the room' }).click();
    const dialog = page.getByRole('dialog', { name: 'End the room?' });
    await dialog.getByText(longTitle).waitFor();
    await person.accessible('the dialog that ends a room');
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'hidden' });
    await page.getByRole('button', { name: 'End the room' }).click();
    await dialog.getByRole('button', { name: 'End the room' }).click();
    await page.locator('.page-head').getByText('Ended').waitFor();
    await person.close();
  });

  test('show a new secret once, and warn before it is lost', async () => {
    const person = await Person.arrive(browser);
    const page = await signIn(person, 'owner', '/team?view=tokens');
    await page.getByRole('button', { name: 'Create a token' }).click();
    await page.getByLabel('Name, such as the script that uses it').fill('nightly report');
    await page.getByRole('button', { name: 'Create', exact: true }).click();
    const secret = page.getByRole('dialog', { name: 'The new management token' });
    await secret.getByText(/^pt_/).waitFor();
    await person.accessible('the dialog with a secret');
    await secret.getByRole('button', { name: 'I have saved it' }).click();
    await secret.getByText(/You have not copied/).waitFor();
    await secret.getByRole('button', { name: 'Close anyway' }).click();
    await page.getByRole('cell', { name: 'nightly report' }).waitFor();
    expect(await page.getByText(/^pt_/).count()).toBe(0);
    await person.close();
  });

  test('keep a new secret when Back is pressed before it was copied', async () => {
    const person = await Person.arrive(browser);
    const page = await signIn(person, 'owner', '/team?view=tokens');
    await page.getByRole('link', { name: 'Sessions and links' }).click();
    await page.getByRole('button', { name: 'Create a sign-in link' }).click();
    const form = page.getByRole('dialog');
    await form.getByLabel('Who will use it').fill('Grace');
    await form.getByLabel('Role').selectOption('auditor');
    await form.getByRole('button', { name: 'Create' }).click();
    const secret = page.getByRole('dialog', { name: /The new/ });
    const link = await secret.getByText(/#code=/).innerText();
    for (let n = 0; n < 2; n++) {
      await page.evaluate(() => {
        const popped = new Promise((done) => addEventListener('popstate', done, { once: true }));
        history.back();
        return popped.then(() => null);
      });
      await secret.getByText(/You have not copied/).waitFor();
      expect(await secret.getByText(/#code=/).innerText()).toBe(link);
      expect(page.url()).toBe(address('/team?view=sessions'));
    }
    await secret.getByRole('button', { name: 'Close anyway' }).click();
    await page.getByRole('cell', { name: /Grace/ }).waitFor();
    await page.goBack();
    await page.getByRole('button', { name: 'Create a token' }).waitFor();
    await person.close();
  });

  test('retry a delivery, and send a test event that appears without a reload', async () => {
    const person = await Person.arrive(browser);
    const page = await signIn(person, 'integrator', `/webhooks?project=${project}`);
    await page.getByRole('button', { name: 'Send a test event' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Send a test event' }).click();
    await page.getByRole('link', { name: 'webhook.test' }).first().waitFor();
    await page.goto(address(`/webhooks/${deliveryID}`));
    await page.getByRole('button', { name: 'Retry now' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Retry now' }).click();
    await page.getByText('The delivery is sent now.').waitFor();
    await page.getByText('the receiver has no space').first().waitFor();
    await person.close();
  });

  test('check a signature of version 5 line by line', async () => {
    const { project_id, api_key, gateway_secret } = await manage<{ project_id: string; api_key: string; gateway_secret: string }>(
      'POST',
      '/projects',
      { organization_id: server.quickstart.organization_id, name: 'Signed' },
    );
    const target = '/api/v5/requests?limit=2';
    const timestamp = String(Math.floor(Date.now() / 1000));
    const profile = 'SVC-HMAC-V5-1';
    const sign = (signed: string): string =>
      createHmac('sha256', gateway_secret).update(`${profile}\nGET\n${signed}\n${timestamp}\n\n`).digest('hex');
    const person = await Person.arrive(browser);
    const page = await signIn(person, 'operator', `/signature?project=${project_id}&version=v5&method=GET`);
    const check = async (signed: string): Promise<void> => {
      const headers = [`api-key: ${api_key}`, `timestamp: ${timestamp}`, `hash-signature: ${sign(signed)}`];
      await page.getByLabel(/^Headers/).fill(headers.join('\n'));
      await page.getByRole('button', { name: 'Check the signature' }).click();
    };
    await page.getByLabel('Path, with its query').fill(target);
    await check('/api/v5/requests');
    await page.getByRole('heading', { name: /would be rejected: Signature missing or wrong/ }).waitFor();
    await page.getByText('The query string was not signed').waitFor();
    const lines = page.getByRole('table', { name: 'Lines of the signed text' });
    expect(await lines.locator('[data-head="Part"]').allTextContents()).toEqual([
      'profile',
      'method',
      'target',
      'timestamp',
      'idempotency key',
      'body',
    ]);
    expect(await lines.locator('[data-head="Value"]').allTextContents()).toEqual([profile, 'GET', target, timestamp, 'empty', 'empty']);
    await check(target);
    await page.getByRole('heading', { name: 'The request would be accepted' }).waitFor();
    await person.seen('console-signature-v5');
    await person.close();
  });

  test('check a signature line by line', async () => {
    const person = await Person.arrive(browser);
    const page = await signIn(person, 'integrator', `/signature?project=${project}&version=v3`);
    await page.getByLabel('Path, with its query').fill('/api/v3/rooms/create_quick_audio_room');
    await page.getByLabel(/^Headers/).fill('hash-signature: d3Jvbmc=');
    await page.getByLabel(/^Body/).fill(JSON.stringify({ project_id: project }));
    await page.getByRole('button', { name: 'Check the signature' }).click();
    await page.getByRole('heading', { name: /would be rejected: Signature missing or wrong/ }).waitFor();
    await page.getByRole('table', { name: 'Lines of the signed text' }).getByText(project).waitFor();
    await person.close();
  });
});

test('the charts of the overview and of the usage are drawn, and name the value under the pointer', async () => {
  const guest = await Person.arrive(browser);
  await guest.join((await server.createRoom()).guest_link, 'Ben');
  const from = new Date(Date.now() - 6 * 86_400_000).toISOString().slice(0, 10);
  await vi.waitFor(
    async () => {
      const { hours } = await manage<{ hours: { participant_minutes: number }[] }>('GET', `/overview?project_id=${project}`);
      expect(hours.reduce((sum, hour) => sum + hour.participant_minutes, 0)).toBeGreaterThan(0.1);
    },
    { timeout: 120_000, interval: 1_000 },
  ); // the figures are read once a minute
  await guest.close();
  const person = await Person.arrive(browser);
  const page = await signIn(person, 'auditor', `?project=${project}`);
  for (const [path, names] of [
    [`?project=${project}`, ['Participant minutes and most people']],
    [`/usage?project=${project}&from=${from}`, ['Participant minutes of each day', 'Peaks and rooms of each day']],
  ] as const) {
    await page.mouse.move(0, 0);
    await openPage(page, path);
    for (const name of names) {
      const chart = page.locator('.chart').filter({ has: page.getByRole('img', { name }) });
      // The first line or row of bars has the color of its name.
      await expect.poll(() => chart.locator('canvas').evaluate(countPainted), { message: `${path}: ${name}` }).toBeGreaterThan(10);
      const legend = chart.locator('.chart-legend');
      expect(await legend.textContent()).toBe('');
      await chart.locator('.u-over').hover();
      const keys = await chart.locator('.chart-key').allTextContents();
      await expect.poll(() => legend.textContent()).toMatch(new RegExp(keys.map((key) => ` · ${key}: [\\d.,]+`).join('')));
    }
  }
  await person.close();
});

/** Counts the pixels of a chart that have the color of its first line or bars. Runs in the page. */
function countPainted(canvas: Element): number {
  const key = canvas.closest('.chart')?.querySelector<HTMLElement>('.chart-key');
  const paint = (canvas as HTMLCanvasElement).getContext('2d');
  const probe = new OffscreenCanvas(1, 1).getContext('2d');
  if (!key || !paint || !probe) return 0;
  probe.fillStyle = getComputedStyle(canvas).getPropertyValue(key.dataset.color ?? '');
  probe.fillRect(0, 0, 1, 1);
  const [red = 0, green = 0, blue = 0] = probe.getImageData(0, 0, 1, 1).data;
  const { data } = paint.getImageData(0, 0, paint.canvas.width, paint.canvas.height);
  let painted = 0;
  for (let i = 0; i < data.length; i += 4) {
    const distance = Math.abs((data[i] ?? 0) - red) + Math.abs((data[i + 1] ?? 0) - green) + Math.abs((data[i + 2] ?? 0) - blue);
    if (data[i + 3] === 255 && distance < 12) painted++;
  }
  return painted;
}

describe('lists', () => {
  test('turn their pages with Older and Newer, and keep filters in the address', async () => {
    const person = await Person.arrive(browser);
    const page = await signIn(person, 'auditor', '/rooms');
    const table = page.getByRole('table', { name: 'Rooms', exact: true });
    await table.getByText('My project').first().waitFor(); // the names of projects come later
    const first = await table.getByRole('row').nth(1).textContent();
    await page.getByRole('button', { name: 'Older' }).click();
    await expect.poll(() => table.getByRole('row').nth(1).textContent()).not.toBe(first);
    await page.getByRole('button', { name: 'Newer' }).click();
    await expect.poll(() => table.getByRole('row').nth(1).textContent()).toBe(first);
    await page.getByLabel('Title contains').fill('northern');
    await page.keyboard.press('Enter');
    await page.getByRole('link', { name: longTitle }).waitFor();
    await expect.poll(() => page.url()).toBe(address('/rooms?title=northern'));
    await page.getByLabel('Ran after').fill('soon');
    await page.keyboard.press('Enter');
    await page.getByText('Write a time such as 2026-11-24 10:05.').waitFor();
    await person.close();
  });

  test('that begin with the oldest row say so on their buttons', async () => {
    // The second run of the test is with the users of the first.
    const { users } = await manage<{ users: { email: string }[] }>('GET', '/users?limit=100');
    const emails = new Set(users.map(({ email }) => email));
    for (let n = 0; n < 51; n++) {
      const email = `user-${n}@example.org`;
      if (!emails.has(email)) await manage('POST', '/users', { email, role: 'auditor' });
    }
    const person = await Person.arrive(browser);
    const page = await signIn(person, 'owner', '/team');
    const row = (n: number) => page.getByRole('cell', { name: `user-${n}@example.org`, exact: true });
    await row(0).waitFor();
    expect(await page.getByRole('button', { name: 'Older' }).isDisabled()).toBe(true);
    await page.getByRole('button', { name: 'Newer' }).click();
    await row(50).waitFor();
    await page.getByRole('button', { name: 'Older' }).click();
    await row(0).waitFor();
    await person.close();
  });

  test('continue a search while nothing matches, and ask after a while', async () => {
    const person = await Person.arrive(browser);
    const page = await signIn(person, 'auditor', '/rooms');
    const { rooms } = await manage<{ rooms: object[] }>('GET', '/rooms?limit=1');
    await page.route('**/api/manage/stream**', (route) => route.abort()); // it has the real list
    let found = 1; // the page with a match
    await page.route('**/api/manage/rooms?**', async (route) => {
      const query = new URL(route.request().url()).searchParams;
      if (!query.has('title')) return route.continue();
      const n = Number(query.get('cursor') ?? 0);
      return route.fulfill({ json: n === found ? { rooms } : { rooms: [], next_cursor: String(n + 1) } });
    });
    const search = async (title: string): Promise<void> => {
      await page.getByLabel('Title contains').fill(title);
      await page.keyboard.press('Enter');
    };
    const row = page.getByRole('table', { name: 'Rooms', exact: true }).getByRole('row').nth(1);
    const keepSearching = page.getByRole('button', { name: 'Keep searching' });
    await search('one');
    await expect.poll(() => page.url()).toBe(address('/rooms?title=one&cursor=1'));
    await row.waitFor();
    expect(await page.getByRole('button', { name: 'Newer' }).count(), 'the earlier page was empty').toBe(0);

    // The page has read two pages by itself, and reads no more until somebody asks.
    found = 30;
    await search('thirty');
    await page.getByText('Nothing matches so far.').waitFor();
    expect(page.url()).toBe(address('/rooms?title=thirty&cursor=1'));
    await keepSearching.click();
    await expect.poll(() => page.url()).toBe(address('/rooms?title=thirty&cursor=21'));
    await page.getByText('Nothing matches so far.').waitFor();
    await keepSearching.click();
    await row.waitFor();
    expect(page.url()).toBe(address('/rooms?title=thirty&cursor=30'));

    found = 300;
    await search('never');
    await page.getByText('Nothing matches so far.').waitFor();
    await search('again'); // has as many pages of its own
    await expect.poll(() => page.url()).toBe(address('/rooms?title=again&cursor=1'));
    await person.close();
  });

  test('of the events of a room show later pages, and what is added to the last one', async () => {
    const busy = await server.createMeeting({}, { title: 'Assembly' });
    const report = async (n: number): Promise<void> => {
      const body = JSON.stringify({ room_id: busy.room_id, user_info: { name: `Visitor ${n}` } });
      const signature = createHmac('sha256', server.quickstart.project_secret ?? '').update(body);
      const answer = await fetch(`${server.url}/api/v4/webhook/get_room_events/${busy.room_id}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'hash-signature': signature.digest('base64') },
        body,
      });
      expect(answer.status, await answer.text()).toBe(200);
    };
    for (let n = 1; n <= 110; n++) await report(n);
    const person = await Person.arrive(browser);
    const page = await signIn(person, 'auditor', `/rooms/${busy.room_id}`);
    const timeline = page.getByRole('region', { name: 'Timeline' });
    await timeline.getByText('Visitor 90 ').waitFor();
    expect(await timeline.getByText('Visitor 110 ').count()).toBe(0);
    await timeline.getByRole('button', { name: 'Show later events' }).click();
    await timeline.getByText('Visitor 110 ').waitFor();
    await report(111);
    await timeline.getByText('Visitor 111 ').waitFor();
    expect(await timeline.getByText('Visitor 110 ').count()).toBe(1);
    await person.close();
  });

  test('of the events of a room say how people were connected, and findings name their nodes', async () => {
    const person = await Person.arrive(browser);
    await person.page.route('**/api/manage/stream**', (route) => route.abort()); // it has the real results
    await person.page.route('**/api/manage/rooms/*/timeline*', (route) => {
      const left = {
        sequence: 4,
        event_id: 'e4',
        at: new Date().toISOString(),
        kind: 'participant.left',
        name: 'Amina',
        connection: { connection_type: 'turn', connection_quality: 'poor', poor_seconds: 20 },
        data: { participant: { name: 'Amina', reason: 'left' } },
        deliveries: [],
      };
      return route.fulfill({ json: { events: [left] } });
    });
    await person.page.route('**/api/manage/overview*', async (route) => {
      const response = await route.fetch();
      const finding = {
        id: 'backup_overdue',
        level: 'warning',
        text: 'The newest backup is old',
        action: 'Look at the log',
        nodes: ['node-b'],
        this_node: false,
      };
      await route.fulfill({ response, json: { ...(await response.json()), findings: [finding] } });
    });
    const page = await signIn(person, 'auditor', `/rooms/${room.room_id}`);
    const timeline = page.getByRole('region', { name: 'Timeline' });
    await timeline.getByText('participant.left no. 4, media over TURN, poor connection for 20 s').waitFor();
    await page.goto(address(''));
    await page.locator('.findings li', { hasText: 'The newest backup is old' }).getByText('On node node-b').waitFor();
    await person.close();
  });

  test('work with the keyboard alone', async () => {
    await server.createRoom(); // those of the start have expired when all looks were checked over much data
    const person = await Person.arrive(browser);
    const page = await signIn(person, 'operator');
    const focused = (): Promise<string | undefined> => page.evaluate(() => document.activeElement?.tagName);
    await page.locator('body').focus();
    await page.keyboard.press('Tab');
    await page.getByRole('link', { name: 'Skip to the content' }).waitFor();
    await person.tabTo('Rooms');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { level: 1, name: 'Rooms' }).waitFor();
    await expect.poll(focused).toBe('H1');
    await person.tabTo('Title contains');
    await page.keyboard.type('standup');
    await page.keyboard.press('Enter');
    await expect.poll(() => page.url()).toBe(address('/rooms?title=standup'));
    await person.tabTo('Standup');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { level: 1, name: 'Standup' }).waitFor();
    await person.tabTo('End the room');
    await page.keyboard.press('Enter');
    const dialog = page.getByRole('dialog', { name: 'End the room?' });
    await dialog.waitFor();
    await page.keyboard.press('Tab');
    expect(await dialog.evaluate((element) => element.contains(document.activeElement))).toBe(true);
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'hidden' });
    await expect.poll(() => page.evaluate(() => document.activeElement?.textContent)).toBe('End the room');
    await person.close();
  });
});
