import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { promisify } from 'node:util';
import type { Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { Person } from './browser';
import { act, address, makeTokens, manage, project, Receiver, type Role, roles, setUpConsole, signIn, tokens } from './console';
import { browser, server } from './fixture';

setUpConsole();

let receiver: Receiver;

beforeAll(async () => {
  receiver = await Receiver.start();
  await makeTokens();
  await manage('PATCH', `/projects/${project}`, { default_webhook_url: receiver.url });
});

afterAll(() => receiver.close());

/** Waits until a delivery of a room to the receiver is in a state, and returns its ID. */
async function deliveryIn(state: string, roomID: string): Promise<string> {
  return vi.waitFor(async () => {
    const { webhooks } = await manage<{ webhooks: { delivery_id: string }[] }>('GET', `/webhooks?state=${state}&room_id=${roomID}`);
    const id = webhooks[0]?.delivery_id ?? '';
    expect(id).not.toBe('');
    return id;
  }, 60_000);
}

/** Reads the secrets of a dialog that shows them once, and closes it. */
async function takeSecrets(dialog: Locator): Promise<string[]> {
  await dialog.getByText('shown only this once').waitFor();
  const secrets = await dialog.locator('.secret code').allTextContents();
  await dialog.getByRole('button', { name: 'I have saved it' }).click();
  await dialog.getByRole('button', { name: 'Close anyway' }).click();
  await dialog.waitFor({ state: 'hidden' });
  return secrets;
}

describe('a project', () => {
  test('is created, suspended, resumed and deleted', async () => {
    const person = await Person.arrive(browser);
    const page = await signIn(person, 'owner', '/projects');
    await page.getByRole('button', { name: 'Create a project' }).click();
    const form = page.getByRole('dialog', { name: 'Create a project' });
    await form.getByLabel('Name').fill('Lessons of the evening');
    await person.accessible('the dialog that creates a project');
    await form.getByRole('button', { name: 'Create the project' }).click();
    const secrets = await takeSecrets(page.getByRole('dialog', { name: 'The keys of Lessons of the evening' }));
    expect(secrets.map((text) => text.slice(0, 3))).toEqual(['pk_', 'gs_', 'whs']);
    await page.getByRole('combobox', { name: 'Project' }).selectOption('Lessons of the evening');
    await page.waitForURL(/project=/);

    await page.getByRole('link', { name: 'Lessons of the evening' }).click();
    await page.getByRole('heading', { level: 1, name: 'Lessons of the evening' }).waitFor();
    await act(page, 'Suspend the project', { fill: (dialog) => dialog.getByLabel(/^End the running meetings/).check() });
    await page.locator('.page-head').getByText('Suspended').waitFor();
    await act(page, 'Resume the project');
    await page.locator('.page-head').getByText('Active').waitFor();
    await act(page, 'Suspend the project');
    await act(page, 'Delete the project', {
      fill: async (dialog) => {
        expect(await dialog.getByRole('button', { name: 'Delete the project' }).isDisabled()).toBe(true);
        await dialog.getByLabel(/to confirm/).fill('Lessons of the evening');
      },
    });
    await page.locator('.page-head').getByText(/delet/i).waitFor();
    await person.close();
  });

  test('is renamed, and its settings are changed', async () => {
    const person = await Person.arrive(browser);
    const { project_id } = await manage<{ project_id: string }>('POST', '/projects', {
      organization_id: server.quickstart.organization_id,
      name: 'Lessons of the morning',
    });
    const read = () => manage<{ name: string; settings: Record<string, unknown> }>('GET', `/projects/${project_id}`);
    const page = await signIn(person, 'operator', `/projects/${project_id}`);
    await page.getByRole('button', { name: 'Rename' }).click();
    const rename = page.getByRole('dialog', { name: 'Rename the project' });
    await rename.getByLabel('Name').fill('Lessons at noon');
    await rename.getByLabel('Name').press('Enter'); // the forms work with the keyboard alone
    await page.getByRole('heading', { level: 1, name: 'Lessons at noon' }).waitFor();

    const change = async (group: string, fill: (form: Locator) => Promise<void>): Promise<void> => {
      await page.getByRole('button', { name: `Change settings: ${group}` }).click();
      const form = page.getByRole('dialog', { name: `Change settings: ${group}` });
      await person.accessible(`the form of the settings ${group}`);
      await fill(form);
      await form.getByRole('button', { name: 'Save the changes' }).click();
      await form.waitFor({ state: 'hidden' });
    };
    await change('Webhooks', async (form) => {
      await form.getByLabel('Webhook URL').fill('https://example.org/hooks');
      await form.getByLabel('room.ended').check();
    });
    await page.getByText('https://example.org/hooks').waitFor();
    await change('Rooms', async (form) => {
      await manage('PATCH', `/projects/${project_id}`, { features: { room_duration: 45 } });
      await form.getByLabel('Maximum people in a room').fill('25');
      await form.getByLabel('Chat allowed').uncheck();
    });
    await change('Guests', (form) => form.getByLabel('Waiting room').check());
    await change('Access', (form) => form.getByLabel('Pages that may embed rooms').fill('https://example.org\nhttps://example.com'));
    await change('Retention', async (form) => {
      await form.getByLabel('Names are kept').fill('30');
      await form.getByLabel('Data that is older is deleted permanently').check();
    });
    await page.getByText('30 days').waitFor();
    const { settings } = await read();
    expect(settings).toMatchObject({
      default_webhook_url: 'https://example.org/hooks',
      webhook_events: ['room.ended'],
      embed_origins: ['https://example.org', 'https://example.com'],
      // A form sends only what it changes, so that the change of another person stays.
      features: { max_participants: 25, chat: false, camera: true, room_duration: 45 },
      locks: { waiting_room: true, chat: false },
      retention: { people_days: 30, rooms_days: 0 },
    });

    // The server says what is wrong, and the form stays.
    await page.getByRole('button', { name: 'Change settings: Brand' }).click();
    const brand = page.getByRole('dialog', { name: 'Change settings: Brand' });
    await brand.getByLabel('Color').fill('#ffffff');
    await brand.getByRole('button', { name: 'Save the changes' }).click();
    await brand.getByText(/^“Color” must have a contrast of at least 4.5/).waitFor();
    await person.seen('console-project-settings-error');
    await brand.getByLabel('Color').fill('#1f5f8b');
    await brand.getByRole('button', { name: 'Save the changes' }).click();
    await brand.waitFor({ state: 'hidden' });
    await page.getByRole('region', { name: 'Brand' }).getByText('#1f5f8b').waitFor();
    await person.seen('console-project-settings');
    await person.close();
  });

  test('gets new credentials, whose overlap is ended', async () => {
    const person = await Person.arrive(browser);
    const page = await signIn(person, 'integrator', `/projects/${project}`);
    for (const [title, secret, ended, advice] of [
      ['Rotate the API key', 'The new API key', 'old key pair', 'The new key pair was not used yet. Put it into your backend first.'],
      ['Rotate the project secret', 'The new project secret', 'old project secret', 'Receivers of webhooks need the new secret too.'],
    ] as const) {
      await act(page, title);
      await takeSecrets(page.getByRole('dialog', { name: secret }));
      const notice = page.locator('section', { has: page.getByRole('heading', { name: new RegExp(ended) }) });
      await notice.getByText(advice).waitFor();
      await act(page, 'End the overlap now', { within: notice });
      await notice.waitFor({ state: 'detached' });
    }
    await person.close();
  });

  test('shows who used its key last, and advises on the rotation', async () => {
    await server.createRoom();
    const person = await Person.arrive(browser);
    const page = await signIn(person, 'auditor', `/projects/${project}`);
    const keys = page.getByRole('table', { name: 'API keys' });
    await expect
      .poll(async () => {
        await page.reload();
        return keys.getByRole('row').nth(1).textContent();
      })
      .toContain('127.0.0.1');
    await person.close();
  });

  test('is opened with a portal link, which shows no other project', async () => {
    const person = await Person.arrive(browser);
    const page = await signIn(person, 'operator', `/projects/${project}`);
    await page.getByRole('button', { name: /portal/i }).click();
    const form = page.getByRole('dialog', { name: /portal/i });
    await form.getByLabel('Who will use it').fill('Ada of the customer');
    await form.getByRole('button', { name: 'Create' }).click();
    const [link = ''] = await takeSecrets(page.getByRole('dialog', { name: /The new/ }));
    const customer = await Person.arrive(browser);
    await customer.page.goto(link.replace('127.0.0.1', 'localhost'));
    await customer.page.getByRole('heading', { name: 'Overview' }).waitFor();
    await customer.page.goto(address('/projects'));
    await customer.page.getByRole('link', { name: 'My project' }).waitFor();
    expect(await customer.page.getByText('Of somebody else').count()).toBe(0);
    await customer.close();
    await person.close();
  });
});

describe('an organization', () => {
  const create = async (page: Page, name: string): Promise<void> => {
    await page.getByRole('button', { name: 'Create an organization' }).click();
    const form = page.getByRole('dialog', { name: 'Create an organization' });
    await form.getByLabel('Name').fill(name);
    await form.getByLabel(/^Billing/).selectOption('Pay as you go');
    await form.getByRole('button', { name: 'Create the organization' }).click();
    await page.getByRole('link', { name, exact: true }).click();
    await page.getByRole('heading', { level: 1, name }).waitFor();
  };

  test('is created, gets a project, and is suspended and resumed with it', async () => {
    const person = await Person.arrive(browser);
    const page = await signIn(person, 'operator', '/organizations');
    await create(page, 'Evening school');
    await page.getByRole('button', { name: 'Create a project' }).click();
    const form = page.getByRole('dialog', { name: 'Create a project' });
    await form.getByLabel('Name').fill('Spanish for beginners');
    await form.getByRole('button', { name: 'Create the project' }).click();
    await takeSecrets(page.getByRole('dialog', { name: 'The keys of Spanish for beginners' }));
    await act(page, 'Suspend the organization');
    await page.locator('.page-head').getByText('Suspended').waitFor();
    await person.seen('console-organization-suspended');
    expect(await page.getByRole('button', { name: 'Create a project' }).count()).toBe(0);

    await page.getByRole('link', { name: 'Spanish for beginners' }).click();
    await page.getByText('cannot be resumed before the organization is').waitFor();
    expect(await page.getByRole('button', { name: 'Resume the project' }).count()).toBe(0);
    await person.seen('console-project-suspended');
    await page.getByRole('link', { name: 'Evening school' }).first().click();
    await act(page, 'Resume the organization');
    await page.locator('.page-head').getByText('Active').waitFor();
    await page.getByRole('table', { name: 'Projects' }).getByText('Active').waitFor();
    await person.close();
  });

  test('is deleted only without projects', async () => {
    const person = await Person.arrive(browser);
    const page = await signIn(person, 'owner', `/organizations/${server.quickstart.organization_id}`);
    await page.getByRole('table', { name: 'Projects' }).waitFor();
    expect(await page.getByRole('button', { name: 'Delete the organization' }).count()).toBe(0);
    await page.getByRole('link', { name: 'Organizations' }).first().click();
    await create(page, 'Closed school');
    await act(page, 'Delete the organization', { fill: (dialog) => dialog.getByLabel(/to confirm/).fill('Closed school') });
    await page.getByRole('heading', { level: 1, name: 'Organizations' }).waitFor();
    await page.getByRole('table', { name: 'Organizations' }).waitFor();
    expect(await page.getByText('Closed school').count()).toBe(0);
    await person.close();
  });
});

test('without an organization, the form of a project says what to do first', async () => {
  const person = await Person.arrive(browser);
  await person.page.route('**/api/manage/organizations*', (route) => route.fulfill({ json: { organizations: [] } }));
  const page = await signIn(person, 'operator', '/projects');
  await page.getByRole('button', { name: 'Create a project' }).click();
  const dialog = page.getByRole('dialog', { name: 'Create a project' });
  await dialog.getByRole('link', { name: 'Create an organization' }).click();
  await page.getByRole('heading', { name: 'No organizations yet' }).waitFor();
  await person.close();
});

test('a room shows what hosts did, and an operator removes a person', async () => {
  const room = await server.createMeeting({}, { title: 'Board' });
  const host = await Person.arrive(browser);
  const ben = await Person.arrive(browser);
  await host.join(room.final_link);
  await ben.join(room.guest_link, 'Ben');
  await host.untilHeard();
  await host.button(/^People/).click();
  await host.button('Mute all guests').click();
  await ben.page.getByText('Amina muted you.').waitFor();

  const person = await Person.arrive(browser);
  const page = await signIn(person, 'integrator', `/rooms/${room.room_id}`);
  await page.getByText('Amina muted all guests, 1 microphone was on').waitFor();
  const attendee = page.locator('.attendee', { hasText: 'Ben' });
  await attendee.getByText('Here').waitFor();
  await act(page, 'Remove from the room', { label: 'Remove', within: attendee });
  await ben.page.getByRole('heading', { name: 'You were removed from this room' }).waitFor();
  await page.getByText('An operator or an integrator removed Ben').waitFor();
  await page.getByText('Ben was removed', { exact: true }).waitFor();
  await person.seen('console-room-host-actions');
  await page.getByLabel('Who was here at').fill('yesterday');
  await page.getByRole('button', { name: 'Show' }).click();
  await page
    .getByRole('alert')
    .getByText(/time such as/)
    .waitFor();
  await page.getByLabel('Who was here at').fill('2026-01-01 10:05');
  await page.getByRole('button', { name: 'Show' }).click();
  await page.getByText('Nobody was in the room at').waitFor();
  for (const one of [host, ben, person]) await one.close();
});

describe('webhooks', () => {
  test('of a target are paused and resumed', async () => {
    receiver.status = 500;
    const { room_id } = await server.createRoom();
    const id = await deliveryIn('pending', room_id);
    const person = await Person.arrive(browser);
    const page = await signIn(person, 'integrator', `/webhooks/${id}`);
    await act(page, 'Pause the target');
    await page.getByText('Paused by hand').waitFor();
    await page.getByText('Next attempt').waitFor({ state: 'hidden' });
    await page
      .locator('.page-head')
      .getByText(/^On hold/)
      .waitFor();
    await person.seen('console-delivery-paused');
    await act(page, 'Resume the target');
    await act(page, 'Pause the target');
    await page.goto(address(''));
    const finding = page.locator('.findings li', { hasText: 'Resume the target when its receiver is ready.' });
    await finding.waitFor();
    expect(await finding.textContent()).not.toContain('parley webhook');
    await finding.getByRole('link', { name: 'My project' }).click();
    const target = page.locator('section', { has: page.getByRole('heading', { name: /Targets that fail or are paused/ }) });
    await target.getByText('Paused by hand').waitFor();
    await page
      .getByRole('row')
      .getByText(/^On hold/)
      .first()
      .waitFor();
    await person.seen('console-webhooks-paused');
    await target.getByRole('link', { name: 'See the deliveries to URLs that begin with it' }).click();
    await expect.poll(() => new URL(page.url()).searchParams.get('url')).toBe(receiver.url);
    const list = page.getByRole('region', { name: 'List of deliveries' });
    await expect.poll(() => list.evaluate((element) => element === document.activeElement)).toBe(true);
    await expect.poll(() => list.evaluate((element) => element.getBoundingClientRect().top < innerHeight / 2)).toBe(true);
    await person.accessible('the list of deliveries after the link of a target');
    receiver.status = 200;
    await act(page, 'Resume the target', { within: target });
    await target.waitFor({ state: 'detached' });
    expect(await deliveryIn('delivered', room_id)).toBe(id);
    await person.close();
  });

  test('of one target and a time span are found', async () => {
    receiver.status = 200;
    const { room_id } = await server.createRoom();
    await deliveryIn('delivered', room_id);
    const person = await Person.arrive(browser);
    const page = await signIn(person, 'integrator', `/webhooks?project=${project}`);
    const rows = page.getByRole('table', { name: 'Deliveries' }).getByRole('row');
    await rows.nth(1).waitFor();
    await page.getByLabel('Target URL').fill(`${receiver.url}/other`);
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'No delivery matches' }).waitFor();
    await page.getByLabel('Target URL').fill(receiver.url);
    await page.keyboard.press('Enter');
    await rows.nth(1).waitFor();
    await page.getByLabel('Time').selectOption('Last hour');
    await page.waitForURL(/within=1/);
    await rows.nth(1).waitFor();
    await page.getByLabel('Time').selectOption('Yesterday');
    await page.getByRole('heading', { name: 'No delivery matches' }).waitFor();
    await person.accessible('the filters of webhooks');
    await person.seen('console-webhooks-filtered');
    await page.getByRole('button', { name: 'Clear filters' }).click();
    await rows.nth(1).waitFor();
    await person.close();
  });

  test('are sent again with the curl command that is copied', async () => {
    receiver.status = 200;
    const { room_id } = await server.createRoom();
    const id = await deliveryIn('delivered', room_id);
    const { body = '' } = await manage<{ body?: string }>('GET', `/webhooks/${id}`);
    const person = await Person.arrive(browser);
    await person.context.grantPermissions(['clipboard-read', 'clipboard-write']);
    const page = await signIn(person, 'integrator', `/webhooks/${id}`);
    await page.getByRole('button', { name: 'Copy as curl' }).click();
    await page.getByText('Copied').first().waitFor();
    const command = await page.evaluate(() => navigator.clipboard.readText());
    const before = receiver.bodies.filter((one) => one === body).length;
    expect(before).toBe(1);
    const { stdout } = await promisify(execFile)('bash', ['-c', command]);
    expect(stdout).toMatch(/^HTTP\/1.1 200/);
    expect(receiver.bodies.filter((one) => one === body)).toHaveLength(before + 1);
    await person.close();
  });

  test('that fail are retried, and delivered ones are replayed', async () => {
    receiver.status = 500;
    const failing = await server.createRoom();
    await deliveryIn('pending', failing.room_id);
    const person = await Person.arrive(browser);
    const page = await signIn(person, 'operator', `/webhooks?project=${project}&room_id=${failing.room_id}`);
    await page.getByRole('cell', { name: '500', exact: true }).waitFor();
    await person.seen('console-webhooks-failing');
    receiver.status = 200;
    await act(page, 'Retry now');
    const id = await deliveryIn('delivered', failing.room_id);
    await page.goto(address(`/webhooks/${id}`));
    await act(page, 'Replay the event');
    await page.goto(address(`/webhooks?project=${project}`));
    await page.getByText('replay', { exact: true }).first().waitFor();
    await act(page, 'Replay deliveries', {
      fill: async (dialog) => {
        await dialog.getByLabel('From').fill('soon');
        await dialog
          .getByRole('alert')
          .getByText(/time such as/)
          .waitFor();
        await dialog.getByLabel('From').fill('2026-01-01 10:05');
        await dialog.getByLabel('Until').fill('2100-01-01 10:05');
        await dialog.getByLabel('Only deliveries that failed').uncheck();
      },
    });
    await page.goto(address('/webhooks'));
    await page.getByText('Choose a project to replay its deliveries').waitFor();
    await person.close();
  });
});

describe('the team', () => {
  test('gets a user, whose role changes, and who is deleted', async () => {
    const person = await Person.arrive(browser);
    const page = await signIn(person, 'owner', '/team');
    await page.getByRole('button', { name: 'Add a user' }).click();
    const form = page.getByRole('dialog', { name: 'Add a user' });
    await form.getByLabel(/^Email address/).fill('ada@example.org');
    await form.getByLabel('Name (optional)').fill('Ada Lovelace');
    await form.getByRole('button', { name: 'Add the user' }).click();
    const row = page.getByRole('row', { name: /Ada Lovelace/ });
    await row.getByRole('button', { name: 'Change' }).click();
    const change = page.getByRole('dialog', { name: 'Change the role of Ada Lovelace' });
    await change.getByLabel('Role').selectOption('auditor');
    await change.getByRole('button', { name: 'Change the role' }).click();
    await row.getByText('Auditor').waitFor();

    await person.seen('console-users');
    await page.setViewportSize({ width: 390, height: 844 });
    await person.seen('console-users-phone');
    await act(page, 'Create a link for this user', { within: row });
    const [link = ''] = await takeSecrets(page.getByRole('dialog', { name: 'The new sign-in link' }));
    const ada = await Person.arrive(browser);
    await ada.page.goto(link.replace('127.0.0.1', 'localhost'));
    await ada.page.locator('.account').getByText('Ada Lovelace').waitFor();
    await ada.close();
    await act(page, 'Delete the user', { label: 'Delete', within: row });
    await row.waitFor({ state: 'detached' });
    await person.close();
  });

  test('gets a link that is revoked, and a token that is revoked', async () => {
    const person = await Person.arrive(browser);
    const page = await signIn(person, 'owner', '/team?view=sessions');
    await page.getByRole('button', { name: /link/i }).click();
    const form = page.getByRole('dialog');
    await form.getByLabel('Who will use it').fill('Grace');
    await form.getByLabel('Role').selectOption('auditor');
    await form.getByRole('button', { name: 'Create' }).click();
    await takeSecrets(page.getByRole('dialog', { name: /The new/ }));
    const link = page.getByRole('row', { name: /Grace/ });
    await act(page, 'Revoke the link', { label: 'End', within: link });
    await link.getByText('Ended').waitFor();

    await manage('POST', '/tokens', { name: 'to be revoked', role: 'auditor' });
    await page.goto(address('/team?view=tokens'));
    const token = page.getByRole('row', { name: /to be revoked/ });
    await act(page, 'Revoke the token', { label: 'Revoke', within: token });
    await token.getByText('Revoked', { exact: true }).waitFor();
    await person.close();
  });
});

test('the audit log is verified, and settings are searched', async () => {
  const person = await Person.arrive(browser);
  const page = await signIn(person, 'auditor', '/audit');
  await page.getByRole('button', { name: 'Verify the log' }).click();
  await page.getByText(/^The log is intact/).waitFor();
  await page.goto(address('/settings'));
  await page.getByLabel('Name or meaning').fill('udp');
  await page.keyboard.press('Enter');
  await expect.poll(() => page.getByRole('table', { name: 'Settings' }).getByRole('row').count()).toBeLessThan(6);
  await page.getByText('rtc_udp_port').waitFor();
  await person.close();
});

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

test('lists are filtered by time, and rejected calls that named no project by address and cause', async () => {
  await server.createRoom(); // whose event is delivered
  await fetch(`${server.url}/api/v5/keys`, { headers: { 'api-key': 'pk_mistyped', timestamp: '1', signature: '00' } });
  const person = await Person.arrive(browser);
  const page = await signIn(person, 'auditor', '/requests?view=anonymous');
  const rows = page.getByRole('table').getByRole('row');
  const filter = async (label: string, text: string): Promise<void> => {
    await page.getByLabel(label, { exact: true }).fill(text);
    await page.getByLabel(label, { exact: true }).press('Enter');
  };
  await filter('Address', '127.0.0.1');
  await filter('Cause', 'unknown_key');
  await page.getByRole('combobox', { name: 'API', exact: true }).selectOption('v5');
  await rows.filter({ hasText: 'Unknown API key' }).first().waitFor();
  await person.seen('console-anonymous-filtered');
  await person.accessible('the filtered rejected calls');
  await filter('Address', '192.0.2.77');
  await page.getByText('No such API calls').waitFor();
  for (const path of ['/requests', '/webhooks', '/audit']) {
    await page.goto(address(path));
    await filter('From', 'soon');
    await page.getByText('Write a time such as').waitFor();
    await filter('From', '2100-01-01 10:05');
    await page.getByText(/^No (API call matches|delivery matches|entry)$/).waitFor();
    await page.getByRole('button', { name: 'Clear filters' }).click();
    await filter('Until', '2100-01-01 10:05');
    await rows.nth(1).waitFor();
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

/** The buttons of the pages, with the roles that see them. */
const buttons: { path: () => string; name: string | RegExp; roles: Role[] }[] = [
  { path: () => '/projects', name: 'Create a project', roles: ['owner', 'operator'] },
  { path: () => `/projects/${project}`, name: 'Rotate the API key', roles: ['owner', 'operator', 'integrator'] },
  { path: () => `/projects/${project}`, name: 'Rotate the project secret', roles: ['owner', 'operator', 'integrator'] },
  { path: () => `/projects/${project}`, name: 'Suspend the project', roles: ['owner', 'operator'] },
  { path: () => `/projects/${project}`, name: /portal/i, roles: ['owner', 'operator'] },
  { path: () => `/projects/${project}`, name: 'Rename', roles: ['owner', 'operator'] },
  { path: () => `/projects/${project}`, name: 'Change settings: Webhooks', roles: ['owner', 'operator'] },
  { path: () => `/projects/${project}`, name: 'Change settings: Retention', roles: ['owner', 'operator'] },
  { path: () => '/organizations', name: 'Create an organization', roles: ['owner', 'operator'] },
  {
    path: () => `/organizations/${server.quickstart.organization_id}`,
    name: 'Suspend the organization',
    roles: ['owner', 'operator'],
  },
  { path: () => `/webhooks?project=${project}`, name: 'Send a test event', roles: ['owner', 'operator', 'integrator'] },
  { path: () => `/webhooks?project=${project}`, name: 'Replay deliveries', roles: ['owner', 'operator', 'integrator'] },
  { path: () => '/team', name: 'Add a user', roles: ['owner'] },
  { path: () => '/team?view=sessions', name: /link/i, roles: ['owner', 'operator'] },
  { path: () => '/team?view=tokens', name: 'Create a token', roles: ['owner'] },
  { path: () => '/team?view=tokens', name: 'Revoke', roles: ['owner'] },
  { path: () => '/audit', name: 'Verify the log', roles: ['owner', 'operator', 'auditor'] },
];

test.each(roles)('the buttons of the pages are those that the role may use: %s', async (role) => {
  const person = await Person.arrive(browser);
  const page = await signIn(person, role);
  for (const { path, name, roles } of buttons) {
    if (role === 'integrator' && /^\/(team|audit|organizations)/.test(path())) continue; // the page is not theirs
    await page.goto(address(path()));
    const content = page.locator('#content');
    await content
      .getByRole('table')
      .or(content.getByRole('heading', { name: /^No / }))
      .first()
      .waitFor();
    const found = await content.getByRole('button', { name }).count();
    expect(found > 0, `${String(name)} on ${path()} as ${role}`).toBe(roles.includes(role));
  }
  await person.close();
});
