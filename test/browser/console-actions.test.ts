import { execFile } from 'node:child_process';
import { createHmac } from 'node:crypto';
import { promisify } from 'node:util';
import type { Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { Person } from './browser';
import {
  act,
  address,
  makeTokens,
  manage,
  openPortal,
  operators,
  project,
  Receiver,
  readers,
  setUpConsole,
  signIn,
  signInWith,
  tokens,
  visit,
  writers,
} from './console';
import { browser, server } from './fixture';
import { withinOne } from './server';

setUpConsole();

let receiver: Receiver;

beforeAll(async () => {
  await withinOne(24 * 3_600_000, 100_000); // no delivery is of yesterday
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
  test.each(operators)('is created, suspended, resumed and, by an owner, deleted: %s', async (visitor) => {
    const person = await Person.arrive(browser);
    const page = await visit(person, visitor, '/projects');
    const name = `Lessons of the evening ${Date.now()}`; // another one when the test is repeated
    await page.getByRole('button', { name: 'Create a project' }).click();
    const form = page.getByRole('dialog', { name: 'Create a project' });
    await form.getByLabel('Name').fill(name);
    await person.accessible('the dialog that creates a project');
    await form.getByRole('button', { name: 'Create the project' }).click();
    const secrets = await takeSecrets(page.getByRole('dialog', { name: `The keys of ${name}` }));
    expect(secrets.map((text) => text.slice(0, 3))).toEqual(['pk_', 'gs_', 'whs']);
    await page.getByRole('combobox', { name: 'Project' }).selectOption(name);
    await page.waitForURL(/project=/);

    await page.getByRole('link', { name }).click();
    await page.getByRole('heading', { level: 1, name }).waitFor();
    await act(page, 'Suspend the project', { fill: (dialog) => dialog.getByLabel(/^End the running meetings/).check() });
    await page.locator('.page-head').getByText('Suspended').waitFor();
    await act(page, 'Resume the project');
    await page.locator('.page-head').getByText('Active').waitFor();
    await act(page, 'Suspend the project');
    if (visitor === 'owner') {
      await act(page, 'Delete the project', {
        fill: async (dialog) => {
          expect(await dialog.getByRole('button', { name: 'Delete the project' }).isDisabled()).toBe(true);
          await dialog.getByLabel(/to confirm/).fill(name);
        },
      });
      await page.locator('.page-head').getByText(/delet/i).waitFor();
    }
    await person.close();
  });

  test('is deleted by its name as a person reads it', async () => {
    const { project_id } = await manage<{ project_id: string }>('POST', '/projects', {
      organization_id: server.quickstart.organization_id,
      name: ' Lessons  of e\u0301te\u0301 ', // from a program
    });
    const path = `/projects/${project_id}`;
    await manage('POST', `${path}/suspend`);
    const person = await Person.arrive(browser);
    const page = await signIn(person, 'owner', path);
    await act(page, 'Delete the project', { fill: (dialog) => dialog.getByLabel(/to confirm/).fill('Lessons of \u00e9t\u00e9') });
    await page.locator('.page-head').getByText(/delet/i).waitFor();
    await person.close();
  });

  test.each(operators)('is renamed, and its settings are changed: %s', async (visitor) => {
    const person = await Person.arrive(browser);
    const { project_id } = await manage<{ project_id: string }>('POST', '/projects', {
      organization_id: server.quickstart.organization_id,
      name: 'Lessons of the morning',
    });
    const read = () => manage<{ name: string; settings: Record<string, unknown> }>('GET', `/projects/${project_id}`);
    const page = await visit(person, visitor, `/projects/${project_id}`);
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
    const shown = page.getByRole('region', { name: 'Brand' });
    await shown.getByText('#1f5f8b').waitFor();
    await shown.getByText('parley project logo').waitFor();
    await fetch(`${server.url}/api/manage/projects/${project_id}/logo`, {
      method: 'PUT',
      headers: { authorization: `Bearer ${tokens.owner}`, 'content-type': 'image/png' },
      body: new Uint8Array(await page.screenshot({ clip: { x: 0, y: 0, width: 320, height: 40 } })),
    });
    await shown.getByText('320 × 40 pixels').waitFor();
    await person.seen('console-project-settings');
    await person.close();
  });

  test.each(writers)('gets new credentials, whose overlap is ended: %s', async (visitor) => {
    const person = await Person.arrive(browser);
    const page = await visit(person, visitor, `/projects/${project}`);
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

  test.each(readers)('shows who used its key last: %s', async (visitor) => {
    await server.createRoom();
    const person = await Person.arrive(browser);
    const page = await visit(person, visitor, `/projects/${project}`);
    const keys = page.getByRole('table', { name: 'API keys' });
    await expect
      .poll(async () => {
        await page.reload();
        return keys.getByRole('row').nth(1).textContent();
      })
      .toContain('127.0.0.1');
    await person.close();
  });

  test('lists each client of an old key, and does not call the end of the overlap safe before all have changed over', async () => {
    const { project_id, api_key } = await manage<{ project_id: string; api_key: string }>('POST', '/projects', {
      organization_id: server.quickstart.organization_id,
      name: 'Busy',
    });
    const callAs = async (client: string, key: string): Promise<void> => {
      const metadata = { room_title: 'Standup', welcome_message: '' };
      const body = JSON.stringify({ project_id, name: 'Amina', max_participants: 10, empty_timeout: 300, metadata });
      const signature = createHmac('sha256', key).update(body).digest('base64');
      const answer = await fetch(`${server.url}/api/v3/rooms/create_quick_audio_room`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'hash-signature': signature, 'user-agent': client },
        body,
      });
      expect(answer.ok, await answer.text()).toBe(true);
    };
    await callAs('nightly/1', api_key);
    const rotated = await manage<{ api_key: string }>('POST', `/projects/${project_id}/keys/rotate`, {});
    for (let n = 0; n < 20; n++) await callAs('app/1', api_key);
    const person = await Person.arrive(browser);
    const page = await signIn(person, 'operator', `/projects/${project_id}`);
    const clients = page.getByRole('table', { name: 'Clients with the old key pair' });
    await clients.getByRole('row', { name: /app\/1.*127\.0\.0\.1.*not yet/ }).waitFor();
    await clients.getByRole('row', { name: /nightly\/1.*127\.0\.0\.1.*not yet/ }).waitFor();
    await page.getByRole('heading', { name: 'Wait before you end the old key pair' }).waitFor();

    // Seven hours later, nobody has used the new key, then only the client that is always busy, then both.
    await page.clock.install({ time: Date.now() + 7 * 3_600_000 });
    const advises = async (advice: string): Promise<void> => {
      await expect
        .poll(async () => {
          await page.reload();
          return page.getByRole('heading', { name: /old key pair/ }).textContent();
        })
        .toBe(advice);
    };
    await advises('The old key pair is unused, and the new one was never used');
    await callAs('app/1', rotated.api_key);
    await advises('The old key pair is unused, but 1 client did not use the new one yet');
    await person.seen('console-project-overlap');
    await callAs('nightly/1', rotated.api_key);
    await advises('The old key pair is unused: safe to end the overlap');
    expect(await clients.getByText('not yet').count()).toBe(0);
    await person.seen('console-project-overlap-safe');
    await act(page, 'End the overlap now');
    await page.getByRole('heading', { name: /old key pair/ }).waitFor({ state: 'detached' });
    await person.close();
  });

  test.each(operators)('is opened with a portal link, which shows no other project: %s', async (visitor) => {
    const person = await Person.arrive(browser);
    const page = await visit(person, visitor, `/projects/${project}`);
    await page.getByRole('button', { name: /portal/i }).click();
    const form = page.getByRole('dialog', { name: /portal/i });
    await form.getByLabel('Who will use it').fill('Ada of the customer');
    await form.getByRole('button', { name: 'Create' }).click();
    const [link = ''] = await takeSecrets(page.getByRole('dialog', { name: /The new/ }));
    const customer = await Person.arrive(browser);
    await customer.page.goto(link);
    await customer.page.getByRole('heading', { name: 'Overview' }).waitFor();
    await customer.page.goto(address('/projects'));
    await customer.page.getByRole('link', { name: 'My project' }).waitFor();
    expect(await customer.page.getByText('Of somebody else').count()).toBe(0);
    await customer.close();
    await person.close();
  });
});

describe('a change whose response is late', () => {
  const create = async (name: string): Promise<string> => {
    const body = { organization_id: server.quickstart.organization_id, name };
    const { project_id } = await manage<{ project_id: string }>('POST', '/projects', body);
    return project_id;
  };

  test('shows an error although the page shows its effect', async () => {
    const path = `/projects/${await create('Stopped halfway')}`;
    const person = await Person.arrive(browser);
    const page = await signIn(person, 'operator', path);
    const suspended = page.locator('.page-head').getByText('Suspended');
    await page.route('**/suspend', async (route) => {
      await route.fetch();
      await suspended.waitFor();
      await route.fulfill({ status: 503, json: { error: { code: 'unavailable', message: 'the database is not available' } } });
    });
    await page.getByRole('button', { name: 'Suspend the project' }).click();
    const dialog = page.getByRole('dialog', { name: 'Suspend the project?' });
    const confirm = dialog.getByRole('button', { name: 'Suspend the project' });
    await confirm.click();
    await dialog.getByText('The database is not available').waitFor();
    expect(await suspended.count()).toBe(1);
    await page.unroute('**/suspend');
    await confirm.click();
    await dialog.waitFor({ state: 'hidden' });
    await page.getByRole('button', { name: 'Resume the project' }).waitFor();
    expect(await page.getByRole('button', { name: 'Suspend the project' }).count()).toBe(0);
    await person.close();
  });

  test('shows an error although its button or its row is gone', async () => {
    const path = `/projects/${await create('Rotated before')}`;
    await manage('POST', `${path}/keys/rotate`);
    const name = `Short visit ${Date.now()}`; // also when the test is repeated
    await manage('POST', '/users', { email: `${name.replaceAll(' ', '.')}@example.org`, name, role: 'auditor' });
    const person = await Person.arrive(browser);
    const page = await signIn(person, 'owner', path);
    const fail = async (address: string, title: string, button: Locator): Promise<void> => {
      await page.route(address, async (route) => {
        await route.fetch();
        await button.waitFor({ state: 'detached' });
        await route.fulfill({ status: 503, json: { error: { code: 'unavailable', message: 'the database is not available' } } });
      });
      await button.click();
      const dialog = page.getByRole('dialog', { name: `${title}?` });
      await dialog.getByRole('button', { name: title }).click();
      await dialog.getByText('The database is not available').waitFor();
    };
    const end = 'End the overlap now';
    await fail('**/keys/revoke-overlap', end, page.locator('.box-head > button', { hasText: end }));
    await page.goto(address('/team'));
    const row = page.getByRole('row', { name: new RegExp(name) });
    await fail('**/users/*', 'Delete the user', row.getByRole('button', { name: 'Delete', exact: true }));
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click();
    await page.getByRole('dialog').waitFor({ state: 'detached' });

    await person.close();
  });

  test('has a dialog that the response of an earlier action leaves open', async () => {
    const path = `/projects/${await create('Two actions')}`;
    const person = await Person.arrive(browser);
    const page = await signIn(person, 'operator', path);
    let respond = (): void => {};
    const released = new Promise<void>((resolve) => {
      respond = resolve;
    });
    await page.route('**/suspend', async (route) => {
      const response = await route.fetch();
      await released;
      await route.fulfill({ response });
    });
    const open = (title: string): Promise<void> => page.getByRole('button', { name: title, exact: true }).click();
    await open('Suspend the project');
    await page.getByRole('dialog').getByRole('button', { name: 'Suspend the project' }).click();
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await open('Rotate the API key');
    const dialog = page.getByRole('dialog', { name: 'Rotate the API key?' });
    await dialog.waitFor();
    respond();
    await page.locator('.announcement').getByText('suspended').waitFor({ state: 'attached' });
    expect(await dialog.count()).toBe(1);
    await person.close();
  });

  test('has a dialog that does not outlive its page', async () => {
    const name = `Left open ${Date.now()}`;
    await create(name);
    const person = await Person.arrive(browser);
    const page = await signIn(person, 'operator', '/projects');
    await page.getByRole('link', { name }).click();
    await page.getByRole('button', { name: 'Rotate the API key' }).click();
    const dialog = page.getByRole('dialog', { name: 'Rotate the API key?' });
    await dialog.waitFor();
    await page.goBack();
    await page.getByRole('heading', { level: 1, name: 'Projects' }).waitFor();
    // A dialog that was drawn on the new page for a moment would have kept the focus from its heading.
    await expect.poll(() => page.evaluate(() => document.activeElement?.tagName)).toBe('H1');
    expect(await dialog.count()).toBe(0);
    await person.close();
  });

  test('is not made twice by somebody who tries again', async () => {
    const path = `/projects/${await create('Rotated once')}`;
    const keys = () => manage<{ keys: { id: string }[] }>('GET', `${path}/keys`).then(({ keys }) => keys.map(({ id }) => id).sort());
    const person = await Person.arrive(browser);
    const page = await signIn(person, 'operator', path);
    await page.route('**/keys/rotate', async (route) => {
      await route.fetch();
      await page.getByText('Old, in its overlap').waitFor();
      await route.abort();
    });
    await page.getByRole('button', { name: 'Rotate the API key' }).click();
    const dialog = page.getByRole('dialog', { name: 'Rotate the API key?' });
    const confirm = dialog.getByRole('button', { name: 'Rotate the API key' });
    await confirm.click();
    await dialog.getByText('The server did not answer, so this may have been done.').waitFor();
    await person.accessible('the dialog of a change without a response');
    await page.unroute('**/keys/rotate');
    const before = await keys();
    await confirm.click();
    await dialog.getByText('nothing was changed now').waitFor();
    expect(await keys()).toEqual(before);
    // A person who opens the dialog again sees what the next rotation stops.
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: 'Rotate the API key' }).click();
    await dialog.getByText('An earlier rotation is still in its overlap.').waitFor();
    await person.close();
  });

  test.each([
    ['Rotate the API key', 'keys/rotate'],
    ['Rotate the project secret', 'rotate-secret'],
  ])('is not made twice by somebody who ends an overlap: %s', async (title, rotation) => {
    const path = `/projects/${await create(title)}`;
    await manage('POST', `${path}/${rotation}`);
    const state = async () => ({
      keys: (await manage<{ keys: { id: string }[] }>('GET', `${path}/keys`)).keys.map(({ id }) => id),
      secret: (await manage<{ secret_overlap_ends_at?: string }>('GET', path)).secret_overlap_ends_at,
    });
    const person = await Person.arrive(browser);
    const page = await signIn(person, 'operator', path);
    await page.getByText(/^Wait before you end|is unused/).waitFor();
    await page.route(`**/${rotation}`, async (route) => {
      await route.fetch();
      await route.abort();
    });
    await page.getByRole('button', { name: title }).click();
    const dialog = page.getByRole('dialog', { name: `${title}?` });
    const confirm = dialog.getByRole('button', { name: title });
    await dialog.getByText('An earlier rotation is still in its overlap.').waitFor();
    await confirm.click();
    await dialog.getByText('The server did not answer, so this may have been done.').waitFor();
    await page.unroute(`**/${rotation}`);
    const before = await state();
    await confirm.click();
    await dialog.getByText('nothing was changed now').waitFor();
    expect(await state()).toEqual(before);
    await person.close();
  });
});

describe('an organization', () => {
  const create = async (page: Page, name: string): Promise<void> => {
    await page.getByRole('button', { name: 'Create an organization' }).click();
    const form = page.getByRole('dialog', { name: 'Create an organization' });
    await form.getByLabel('Name').fill(` ${name} `);
    await form.getByLabel(/^Billing/).selectOption('Pay as you go');
    await form.getByRole('button', { name: 'Create the organization' }).click();
    await page.getByRole('link', { name, exact: true }).click();
    await page.getByRole('heading', { level: 1, name }).waitFor();
    const found = await manage<{ organizations: { name: string }[] }>('GET', `/organizations?search=${encodeURIComponent(name)}`);
    expect(found.organizations[0]?.name, 'without the outer spaces').toBe(name);
  };

  test.each(operators)('is created, gets a project, and is suspended and resumed with it: %s', async (visitor) => {
    const person = await Person.arrive(browser);
    const page = await visit(person, visitor, '/organizations');
    const name = `Evening school ${Date.now()}`; // another one when the test is repeated
    await create(page, name);
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
    await page.getByRole('link', { name }).first().click();
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
  await dialog.getByRole('button', { name: 'Cancel' }).click();
  await dialog.waitFor({ state: 'detached' });
  await page.getByRole('button', { name: 'Create a project' }).click();
  await dialog.getByRole('link', { name: 'Create an organization' }).click();
  await page.getByRole('heading', { name: 'No organizations yet' }).waitFor();
  await person.close();
});

test.each(writers)('a room is ended, and a scheduled one is canceled: %s', async (visitor) => {
  const room = await server.createMeeting({}, { title: 'Board' });
  const scheduled = await server.createMeeting({}, { start: new Date(Date.now() + 86_400_000), title: 'Tomorrow' });
  const person = await Person.arrive(browser);
  const page = await visit(person, visitor, `/rooms/${room.room_id}`);
  await act(page, 'End the room');
  await page.locator('.page-head').getByText('Ended').waitFor();
  await page.goto(address(`/rooms/${scheduled.room_id}`));
  await act(page, 'Cancel the room');
  await page.locator('.page-head').getByText('Canceled').waitFor();
  expect(await page.getByRole('button', { name: /^(End|Cancel) the room$/ }).count()).toBe(0);
  await person.close();
});

test.each(writers)('a room shows what hosts did, and a person is removed: %s', async (visitor) => {
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
  const page = await visit(person, visitor, `/rooms/${room.room_id}`);
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
  test.each(writers)('of a target are paused and resumed: %s', async (visitor) => {
    receiver.status = 500;
    const { room_id } = await server.createRoom();
    const id = await deliveryIn('pending', room_id);
    const person = await Person.arrive(browser);
    const page = await visit(person, visitor, `/webhooks/${id}`);
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

  test('of one of several projects are retried on their own page', async () => {
    receiver.status = 500;
    const { room_id } = await server.createRoom();
    const id = await deliveryIn('pending', room_id);
    const { project_id } = await manage<{ project_id: string }>('POST', '/projects', {
      organization_id: server.quickstart.organization_id,
      name: 'Second of a customer',
    });
    const rights = { name: 'customer', role: 'integrator', project_ids: [project, project_id] };
    const { token } = await manage<{ token: string }>('POST', '/tokens', rights);
    const person = await Person.arrive(browser);
    const page = await signInWith(person, token, `/webhooks/${id}`);
    const attempts = page.getByRole('region', { name: 'Attempts' }).getByRole('heading', { level: 3 });
    await attempts.first().waitFor();
    const before = await attempts.count();
    await act(page, 'Retry now');
    await expect.poll(() => attempts.count()).toBeGreaterThan(before);
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

  test.each(writers)('that fail are retried, and delivered ones are replayed: %s', async (visitor) => {
    receiver.status = 500;
    const failing = await server.createRoom();
    await deliveryIn('pending', failing.room_id);
    const person = await Person.arrive(browser);
    const page = await visit(person, visitor, `/webhooks?project=${project}&room_id=${failing.room_id}`);
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
        await dialog.getByLabel('Deliveries').selectOption('All that are not pending');
      },
    });
    if (operators.includes(visitor)) {
      await page.goto(address('/webhooks'));
      await page.getByText('Choose a project to retry or replay its deliveries').waitFor();
    }
    await person.close();
  });

  test('of a project are retried in a time span, and replayed if their target was gone', async () => {
    receiver.status = 500;
    const failing = await server.createRoom();
    await deliveryIn('pending', failing.room_id);
    const person = await Person.arrive(browser);
    const page = await signIn(person, 'operator', `/webhooks?project=${project}`);
    receiver.status = 200;
    await act(page, 'Retry pending deliveries', {
      fill: async (dialog) => {
        await person.seen('console-webhooks-retry');
        await dialog.getByLabel('Until').fill('2020-01-01 10:05');
        await dialog.getByRole('button', { name: 'Retry pending deliveries' }).click();
        await dialog.getByText(/no pending delivery/i).waitFor();
        await dialog.getByLabel('Until').fill('');
        await dialog.getByLabel('From').fill('2026-01-01 10:05');
      },
    });
    await deliveryIn('delivered', failing.room_id);

    receiver.status = 410;
    const { room_id } = await server.createRoom();
    await deliveryIn('gone', room_id);
    receiver.status = 200;
    await act(page, 'Resume the target');
    await act(page, 'Replay deliveries', {
      fill: async (dialog) => {
        await dialog.getByLabel('From').fill('2026-01-01 10:05');
        await dialog.getByLabel('Until').fill('2100-01-01 10:05');
        await dialog.getByLabel('Deliveries').selectOption('Target gone');
        await person.seen('console-webhooks-replay');
      },
    });
    await expect
      .poll(async () => {
        const { webhooks } = await manage<{ webhooks: { event_id: string; state: string; replay: boolean }[] }>(
          'GET',
          `/webhooks?room_id=${room_id}`,
        );
        const ids = (matches: (one: (typeof webhooks)[number]) => boolean) => webhooks.filter(matches).map(({ event_id }) => event_id);
        return { replayed: ids(({ replay }) => replay), gone: ids(({ state }) => state === 'gone') };
      })
      .toSatisfy(({ replayed, gone }) => gone.length > 0 && `${replayed}` === `${gone}`);
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
    await ada.page.goto(link);
    await ada.page.locator('.account').getByText('Ada Lovelace').waitFor();
    await ada.close();
    await act(page, 'Delete the user', { label: 'Delete', within: row });
    await row.waitFor({ state: 'detached' });
    await person.close();
  });

  test('changes the role that a user has now', async () => {
    const name = `Dorothy ${Date.now()}`; // another one when the test is repeated
    const user = { email: `${name.replace(' ', '.')}@example.org`, name, role: 'operator' };
    const { user_id } = await manage<{ user_id: string }>('POST', '/users', user);
    const person = await Person.arrive(browser);
    const page = await signIn(person, 'owner', '/team');
    const row = page.getByRole('row', { name: new RegExp(name) });
    await row.getByText('Operator').waitFor();
    await manage('PATCH', `/users/${user_id}`, { role: 'auditor' });
    await row.getByText('Auditor').waitFor();
    await row.getByRole('button', { name: 'Change' }).click();
    const change = page.getByRole('dialog', { name: `Change the role of ${name}` });
    expect(await change.getByLabel('Role').inputValue()).toBe('auditor');
    await change.getByRole('button', { name: 'Cancel' }).click();
    await manage('DELETE', `/users/${user_id}`);
    await person.close();
  });

  test('gets a link and a token that are revoked', async () => {
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

  test.each(operators)('ends the session of a customer: %s', async (visitor) => {
    const person = await Person.arrive(browser);
    const page = await visit(person, visitor, '/team?view=sessions');
    const customer = await Person.arrive(browser);
    const name = `Customer ${Date.now()}`; // another one when the test is repeated
    await openPortal(customer, { name });
    const session = page.getByRole('row', { name: new RegExp(name) });
    await session.getByText('Signed in').waitFor();
    await act(page, 'End the session', { label: 'End', within: session });
    await session.getByText('Ended').waitFor();
    await customer.page.getByText('Your session has ended.').waitFor();
    await customer.close();
    await person.close();
  });
});

test.each(readers)('the audit log is verified, and settings are searched: %s', async (visitor) => {
  const person = await Person.arrive(browser);
  const page = await visit(person, visitor, '/audit');
  await page.getByRole('button', { name: 'Verify the log' }).click();
  await page.getByText(/^The log is intact/).waitFor();
  await page.goto(address('/settings'));
  await page.getByLabel('Name or meaning').fill('udp');
  await page.keyboard.press('Enter');
  await expect.poll(() => page.getByRole('table', { name: 'Settings' }).getByRole('row').count()).toBeLessThan(6);
  await page.getByText('rtc_udp_port').waitFor();
  await person.close();
});

test.each(readers)('lists are filtered by time, and rejected calls that named no project by address and cause: %s', async (visitor) => {
  await server.createRoom(); // whose event is delivered
  await fetch(`${server.url}/api/v5/keys`, { headers: { 'api-key': 'pk_mistyped', timestamp: '1', signature: '00' } });
  const person = await Person.arrive(browser);
  const page = await visit(person, visitor, '/requests?view=anonymous');
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
