import type { Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { desktop, Person } from './browser';
import { address, manage, project, setUpConsole, signIn, tokens } from './console';
import { made, makePages, makeStates, openPage, pages, receiver, room, withManyNodes } from './console-pages';
import { browser, server } from './fixture';

setUpConsole({ past: false });

beforeAll(async () => {
  await makePages();
  await makeStates();
}, 240_000);

afterAll(() => receiver.close());

const looks = [
  { look: 'desktop', dark: false, viewport: desktop, key: 'Enter' },
  { look: 'a small phone in the dark', dark: true, viewport: { width: 320, height: 640 }, key: 'Space' },
];

/** Where Tab goes, as the page says it. */
interface Stop {
  /** The number of the control in the order of the document; -1 for the page itself. */
  n: number;
  what: string;
  outlined: boolean;
  visible: boolean;
}

/** Numbers the controls of a part of the page in the order of the document, and returns those that are not in the order in which people read. */
const numberControls = (page: Page, within: string): Promise<{ count: number; misplaced: string[] }> =>
  page.evaluate((within) => {
    for (const old of document.querySelectorAll('[data-stop]')) old.removeAttribute('data-stop');
    const selector = 'a[href], button, input, select, textarea, summary, [tabindex="0"]';
    const controls = [...document.querySelectorAll<HTMLElement>(`${within} :is(${selector})`)].filter(
      (one) => one.checkVisibility({ visibilityProperty: true }) && !one.matches(':disabled, [tabindex="-1"]'),
    );
    const name = (one: HTMLElement): string => `${one.localName} "${one.ariaLabel ?? one.textContent.trim().slice(0, 40)}"`;
    const misplaced: string[] = [];
    for (const [n, control] of controls.entries()) {
      control.dataset.stop = String(n);
      const before = controls[n - 1];
      // The skip link is above the page until it has the focus.
      if (!before || before.classList.contains('skip') || before.contains(control)) continue;
      const [from, to] = [before.getBoundingClientRect(), control.getBoundingClientRect()];
      const above = to.bottom <= from.top && to.left < from.right;
      const middle = to.top + to.height / 2; // lines may overlap a little
      const left = middle > from.top && middle < from.bottom && to.right <= from.left;
      if (above || left) misplaced.push(`${name(control)} after ${name(before)}`);
    }
    return { count: controls.length, misplaced };
  }, within);

const focused = (page: Page): Promise<Stop> =>
  page.evaluate(() => {
    const one = document.activeElement as HTMLElement;
    const { outlineStyle, outlineWidth } = getComputedStyle(one);
    const { top, bottom, left, right, width, height } = one.getBoundingClientRect();
    return {
      n: Number(one.dataset.stop ?? -1),
      what: `${one.localName} "${one.ariaLabel ?? one.textContent.trim().slice(0, 40)}"`,
      outlined: one.matches(':focus-visible') && outlineStyle !== 'none' && Number.parseFloat(outlineWidth) >= 2,
      visible: width > 0 && height > 0 && bottom > 0 && right > 0 && top < innerHeight && left < innerWidth,
    };
  });

/** Presses Tab through a part of the page, and checks that each control is reached in order, in sight, with an outline. The first one has the focus. */
async function tabThrough(page: Page, within: string, where: string): Promise<void> {
  const { count, misplaced } = await numberControls(page, within);
  expect(misplaced, `${where}: the order of the controls`).toEqual([]);
  expect(count, `${where}: controls`).toBeGreaterThan(0);
  const stops = [await focused(page)];
  for (let n = 1; n < count; n++) {
    await page.keyboard.press('Tab');
    stops.push(await focused(page));
  }
  expect(
    stops.map(({ n }) => n),
    `${where}: ${stops.map(({ what }) => what).join(', ')}`,
  ).toEqual(stops.map((_, n) => n));
  expect(
    stops.filter(({ outlined }) => !outlined).map(({ what }) => what),
    `${where}: controls without an outline`,
  ).toEqual([]);
  expect(
    stops.filter(({ visible }) => !visible).map(({ what }) => what),
    `${where}: controls out of sight`,
  ).toEqual([]);
}

const hasFocus = (one: Locator): Promise<boolean> => one.evaluate((element) => element === document.activeElement);

/** The pages stay as they are, because rows that come meanwhile would change the order. */
async function withoutUpdates(page: Page): Promise<void> {
  await page.route('**/api/manage/stream**', (route) => route.abort());
}

/** Opens the menu of a phone, so that its controls can be reached. */
async function openMenu(page: Page): Promise<void> {
  const menu = page.getByRole('button', { name: 'Menu' });
  if (await menu.isVisible()) await menu.press('Enter');
}

describe.each(looks)('on $look', ({ viewport, dark, key }) => {
  test('Tab reaches every control of every page in the order in which people read', async () => {
    const person = await Person.arrive(browser, { viewport, dark });
    const { page } = person;
    await withoutUpdates(page);
    await page.goto(address('/rooms'));
    await expect.poll(() => page.evaluate(() => document.activeElement?.textContent)).toBe('Sign in');
    await page.keyboard.press('Tab');
    await tabThrough(page, 'body', 'the sign-in page');
    await page.getByText('I have no token').press(key);
    await page.getByLabel('Management token').focus();
    await tabThrough(page, 'body', 'the sign-in page with its help');
    await page.getByLabel('Management token').focus();
    await page.keyboard.type(tokens.owner);
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Rooms', level: 1 }).waitFor();

    for (const { name, path } of pages()) {
      await openPage(page, path);
      await openMenu(page);
      const fold = page.getByRole('button', { name: /^Filters/ });
      if (await fold.isVisible()) await fold.press(key);
      await page.locator('.skip').focus();
      await tabThrough(page, 'body', `the page ${name}`);
      // The skip link leads past the menu.
      await page.locator('.skip').focus();
      await page.keyboard.press('Enter');
      await page.keyboard.press('Tab');
      expect(
        await page.evaluate(() => document.querySelector('#content [data-stop]') === document.activeElement),
        `the first control of the page ${name} after the skip link`,
      ).toBe(true);
    }
    await person.close();
  });

  test('each dialog is accessible, keeps the focus, and closes with Escape', async () => {
    const person = await Person.arrive(browser, { viewport, dark });
    const { page } = person;
    const host = await Person.arrive(browser);
    await host.join(room.guest_link, 'Ben');
    await expect
      .poll(async () => (await manage<{ participants: number }>('GET', `/rooms/${room.room_id}`)).participants)
      .toBeGreaterThan(0);
    await withoutUpdates(page);
    await withManyNodes(page);
    await signIn(person, 'owner');
    const { organization_id } = server.quickstart;
    for (const { path, dialogs } of [
      { path: '/projects', dialogs: [['Create a project', 'Create a project']] },
      {
        path: `/projects/${project}`,
        dialogs: [
          ['Create a portal link', 'Create a portal link'],
          ['Rename', 'Rename the project'],
          ['Suspend the project', 'Suspend the project?'],
          ['Rotate the API key', 'Rotate the API key?'],
          ['End the overlap now', 'End the overlap now?'],
          ['Rotate the project secret', 'Rotate the project secret?'],
          ...['Rooms', 'Guests', 'Access', 'Webhooks', 'Brand', 'Retention'].map((group) => [
            `Change settings: ${group}`,
            `Change settings: ${group}`,
          ]),
        ],
      },
      { path: `/projects/${made.secret}`, dialogs: [['End the overlap now', 'End the overlap now?']] },
      {
        path: `/projects/${made.suspended}`,
        dialogs: [
          ['Resume the project', 'Resume the project?'],
          ['Delete the project', 'Delete the project?'],
        ],
      },
      { path: '/organizations', dialogs: [['Create an organization', 'Create an organization']] },
      {
        path: `/organizations/${organization_id}`,
        dialogs: [
          ['Create a project', 'Create a project'],
          ['Suspend the organization', 'Suspend the organization?'],
        ],
      },
      { path: `/organizations/${made.closed}`, dialogs: [['Resume the organization', 'Resume the organization?']] },
      { path: `/organizations/${made.empty}`, dialogs: [['Delete the organization', 'Delete the organization?']] },
      {
        path: `/rooms/${room.room_id}`,
        dialogs: [
          ['End the room', 'End the room?'],
          ['Remove', 'Remove from the room?'],
        ],
      },
      { path: `/rooms/${made.scheduled}`, dialogs: [['Cancel the room', 'Cancel the room?']] },
      {
        path: `/webhooks?project=${project}`,
        dialogs: [
          ['Retry pending deliveries', 'Retry pending deliveries?'],
          ['Replay deliveries', 'Replay deliveries?'],
          ['Send a test event', 'Send a test event?'],
          ['Pause the target', 'Pause the target?'],
          ['Retry now', 'Retry now?'],
        ],
      },
      {
        path: `/webhooks/${made.pending}`,
        dialogs: [
          ['Pause the target', 'Pause the target?'],
          ['Retry now', 'Retry now?'],
        ],
      },
      { path: `/webhooks/${made.delivered}`, dialogs: [['Replay the event', 'Replay the event?']] },
      {
        path: '/nodes',
        dialogs: [
          ['Drain node-b', 'Drain the node'],
          ['Cancel the drain of node-c', 'Cancel the drain?'],
        ],
      },
      {
        path: '/team',
        dialogs: [
          ['Add a user', 'Add a user'],
          ['Create a link for this user', 'Create a link for this user?'],
          ['Change', 'Change the role of Grace'],
          ['Delete', 'Delete the user?'],
        ],
      },
      {
        path: '/team?view=sessions',
        dialogs: [
          ['Create a sign-in link', 'Create a sign-in link'],
          ['End', /^(End the session|Revoke the link)\?$/],
        ],
      },
      {
        path: '/team?view=tokens',
        dialogs: [
          ['Create a token', 'Create a token'],
          ['Revoke', 'Revoke the token?'],
        ],
      },
    ] satisfies { path: string; dialogs: (string | RegExp)[][] }[]) {
      await openPage(page, path);
      for (const [button, title] of dialogs as [string, string | RegExp][]) {
        const where = `${path}: ${title}`;
        const opener = page.locator('#content').getByRole('button', { name: button, exact: true }).first();
        await opener.press(key);
        const dialog = page.getByRole('dialog', { name: title });
        await dialog.waitFor();
        await person.seen(`console-dialog-${button.replaceAll(/\W+/g, '-').toLowerCase()}-${dark ? 'dark-phone' : 'light-desktop'}`);
        await checkDialog(page, dialog, where);
        await page.keyboard.press('Escape');
        await dialog.waitFor({ state: 'detached' });
        expect(await hasFocus(opener), `${where}: the focus after Escape`).toBe(true);
      }
    }
    await host.close();
    await person.close();
  });
});

/** Checks that Tab goes through the controls of an open dialog, and to none outside. Space checks its boxes. */
async function checkDialog(page: Page, dialog: Locator, where: string): Promise<void> {
  expect(await dialog.evaluate((element) => element.contains(document.activeElement)), `${where}: the focus`).toBe(true);
  await dialog.locator(':is(a[href], button, input, select, textarea, [tabindex="0"]):enabled').first().focus();
  await tabThrough(page, 'dialog', where);
  // After the last control, the page itself may get the focus.
  for (let n = 0; n < 2; n++) {
    await page.keyboard.press('Tab');
    const outside = await dialog.evaluate((element) => {
      const one = document.activeElement;
      return one !== document.body && !element.contains(one);
    });
    expect(outside, `${where}: Tab leaves the dialog`).toBe(false);
  }
  const box = dialog.getByRole('checkbox').first();
  if ((await box.count()) === 0) return;
  const before = await box.isChecked();
  await box.press('Space');
  expect(await box.isChecked(), `${where}: Space`).toBe(!before);
}

test('the menu of a phone closes with Escape, which returns the focus', async () => {
  const person = await Person.arrive(browser, { viewport: { width: 320, height: 640 } });
  const page = await signIn(person, 'owner', '/rooms');
  const menu = page.getByRole('button', { name: 'Menu' });
  const link = page.getByRole('link', { name: 'Nodes' });
  await menu.press('Enter');
  await link.focus();
  await page.keyboard.press('Escape');
  await link.waitFor({ state: 'hidden' });
  expect(await hasFocus(menu)).toBe(true);
  expect(await menu.getAttribute('aria-expanded')).toBe('false');
  await menu.press('Space');
  await link.press('Enter');
  await page.getByRole('heading', { level: 1, name: 'Nodes' }).waitFor();
  await link.waitFor({ state: 'hidden' });
  await expect.poll(() => page.evaluate(() => document.activeElement?.tagName)).toBe('H1');
  await person.close();
});

test('the menu of a phone stays open when Escape does something else', async () => {
  const person = await Person.arrive(browser, { viewport: { width: 320, height: 640 } });
  const page = await signIn(person, 'owner', '/projects');
  const menu = page.getByRole('button', { name: 'Menu' });
  const staysOpen = async (where: string, focused: Locator): Promise<void> => {
    expect(await hasFocus(focused), `the focus after Escape ${where}`).toBe(true);
    expect(await menu.getAttribute('aria-expanded'), `the menu after Escape ${where}`).toBe('true');
  };
  await menu.press('Enter');
  const create = page.getByRole('button', { name: 'Create a project' });
  await create.press('Enter');
  const dialog = page.getByRole('dialog', { name: 'Create a project' });
  await dialog.waitFor();
  await page.keyboard.press('Escape');
  await dialog.waitFor({ state: 'detached' });
  await staysOpen('in a dialog', create);

  await page.getByRole('button', { name: /^Filters/ }).press('Enter');
  const search = page.getByRole('searchbox', { name: 'Name or ID' });
  await search.focus();
  const composing = { key: 'Escape', isComposing: true, bubbles: true };
  await search.evaluate((element, init) => element.dispatchEvent(new KeyboardEvent('keydown', init)), composing);
  await staysOpen('while a character is composed', search);
  await page.keyboard.type('My');
  await page.keyboard.press('Escape');
  await expect.poll(() => search.inputValue()).toBe('');
  await staysOpen('in a search field with a text', search);
  await page.keyboard.press('Escape');
  await expect.poll(() => menu.getAttribute('aria-expanded')).toBe('false');
  expect(await hasFocus(menu)).toBe(true);
  await person.close();
});

test('an action that is done leaves the focus on the button in its place, or on the list that has the button', async () => {
  const { organization_id } = server.quickstart;
  const { project_id } = await manage<{ project_id: string }>('POST', '/projects', { organization_id, name: 'By keyboard' });
  const [night, day] = [`Night script ${Date.now()}`, `Day script ${Date.now()}`]; // others when the test is repeated
  for (const name of [night, day]) await manage('POST', '/tokens', { name, role: 'auditor' });
  const person = await Person.arrive(browser);
  const page = await signIn(person, 'owner', `/projects/${project_id}`);
  const confirm = async (opener: Locator, title: string): Promise<void> => {
    await opener.press('Enter');
    const dialog = page.getByRole('dialog', { name: `${title}?` });
    await dialog.getByRole('button', { name: title }).press('Enter');
    await dialog.waitFor({ state: 'detached' });
  };
  const suspend = page.getByRole('button', { name: 'Suspend the project' });
  const resume = page.getByRole('button', { name: 'Resume the project' });
  await confirm(suspend, 'Suspend the project');
  await resume.waitFor();
  expect(await hasFocus(resume), 'the focus after a suspension').toBe(true);
  await confirm(resume, 'Resume the project');
  await suspend.waitFor();
  expect(await hasFocus(suspend), 'the focus after its end').toBe(true);

  const list = page.getByRole('region', { name: 'Management tokens' });
  const revoke = (name: string): Locator => page.getByRole('row', { name: new RegExp(name) }).getByText('Revoke', { exact: true });
  await page.goto(address('/team?view=tokens'));
  await confirm(revoke(night), 'Revoke the token');
  await revoke(night).waitFor({ state: 'detached' });
  await expect.poll(() => hasFocus(list), { message: 'the focus after the button is gone' }).toBe(true);
  await page.keyboard.press('Tab');
  expect(await list.evaluate((element) => element.contains(document.activeElement)), 'Tab goes on in the list').toBe(true);
  // The page often shows the effect before the response arrives.
  await page.route('**/revoke', async (route) => {
    const response = await route.fetch();
    await revoke(day).waitFor({ state: 'detached' });
    await route.fulfill({ response });
  });
  await confirm(revoke(day), 'Revoke the token');
  await expect.poll(() => hasFocus(list), { message: 'the focus after a dialog whose button is gone' }).toBe(true);
  await person.close();
});

test('the buttons of a list keep the focus on its first and its last page', async () => {
  const person = await Person.arrive(browser);
  const { page } = person;
  await withoutUpdates(page);
  await signIn(person, 'owner', '/rooms');
  const [newer, older] = [page.getByRole('button', { name: 'Newer' }), page.getByRole('button', { name: 'Older' })];
  await older.focus();
  while (await older.isEnabled()) {
    const before = page.url();
    await page.keyboard.press('Enter');
    await page.waitForURL((url) => url.href !== before);
    await expect.poll(() => page.locator('[aria-busy=true]').count()).toBe(0);
    expect(await hasFocus(older), 'the focus on a next page').toBe(true);
  }
  const last = page.url();
  await page.keyboard.press('Enter');
  expect(page.url()).toBe(last);
  await newer.focus();
  while (await newer.isEnabled()) {
    const before = page.url();
    await page.keyboard.press('Enter');
    await page.waitForURL((url) => url.href !== before);
    await expect.poll(() => page.locator('[aria-busy=true]').count()).toBe(0);
    expect(await hasFocus(newer), 'the focus on a previous page').toBe(true);
  }
  const first = page.url();
  await page.keyboard.press('Enter');
  expect(page.url()).toBe(first);
  await person.close();
});

test('the button that shows more keeps the focus while a page loads, and leaves it in its part of the page when it is gone', async () => {
  const person = await Person.arrive(browser);
  const { page } = person;
  await withoutUpdates(page);
  const last = 3;
  let loaded = 1;
  await page.route('**/api/manage/rooms/*/timeline*', async (route) => {
    const sequence = Number(new URL(route.request().url()).searchParams.get('cursor') ?? 1);
    await vi.waitUntil(() => loaded >= sequence, { timeout: 60_000 });
    const event = {
      sequence,
      event_id: `e${sequence}`,
      at: new Date().toISOString(),
      kind: 'participant.left',
      name: 'Amina',
      data: { participant: { name: 'Amina', reason: 'left' } },
      deliveries: [],
    };
    await route.fulfill({ json: { events: [event], ...(sequence < last && { next_cursor: String(sequence + 1) }) } });
  });
  await signIn(person, 'owner', `/rooms/${room.room_id}`);
  const timeline = page.getByRole('region', { name: 'Timeline' });
  const more = timeline.getByRole('button', { name: 'Show later events' });
  await more.waitFor();
  await person.tabTo('Show later events');
  for (const sequence of [2, last]) {
    expect(await hasFocus(more), `the focus before page ${sequence}`).toBe(true);
    await page.keyboard.press('Enter');
    await expect.poll(() => more.getAttribute('aria-disabled')).toBe('true');
    expect(await hasFocus(more), `the focus while page ${sequence} loads`).toBe(true);
    loaded = sequence;
    await timeline.getByText(`no. ${sequence}`).waitFor();
  }
  await more.waitFor({ state: 'detached' });
  await expect.poll(() => hasFocus(timeline), { message: 'the focus after the last page' }).toBe(true);
  await person.close();
});

test('a new secret closes with Escape only after a warning, and returns the focus', async () => {
  const person = await Person.arrive(browser, { viewport: { width: 320, height: 640 }, dark: true });
  const page = await signIn(person, 'owner', '/team?view=tokens');
  const opener = page.getByRole('button', { name: 'Create a token' });
  await opener.press('Enter');
  await page.getByLabel('Name, such as the script that uses it').fill('by keyboard');
  await page.keyboard.press('Enter');
  const secret = page.getByRole('dialog', { name: 'The new management token' });
  await secret.waitFor();
  await person.seen('console-dialog-secret-dark-phone');
  await checkDialog(page, secret, 'a new secret');
  await page.keyboard.press('Escape');
  await secret.getByText('You have not copied').waitFor();
  await person.accessible('the warning of a secret');
  await page.keyboard.press('Escape');
  await secret.waitFor({ state: 'detached' });
  await expect.poll(() => hasFocus(opener)).toBe(true);
  await person.close();
});

test('an action that fails is sent once, says why, and keeps the focus', async () => {
  const person = await Person.arrive(browser, { viewport: { width: 320, height: 640 }, dark: true });
  const page = await signIn(person, 'owner', `/projects/${project}`);
  let sent = 0;
  let respond = (): void => undefined;
  const fail = async (address: string, method: string): Promise<void> => {
    await page.route(address, async (route) => {
      if (route.request().method() !== method) return route.fallback();
      sent++;
      await new Promise<void>((resolve) => {
        respond = resolve;
      });
      await route.fulfill({ status: 503, json: { error: { code: 'unavailable', message: 'the database is not available' } } });
    });
  };
  await fail('**/suspend', 'POST');
  await fail(`**/projects/${project}`, 'PATCH');
  await fail('**/audit/verify', 'GET');
  await fail('**/signature-checks', 'POST');
  const keepsFocus = async (button: Locator): Promise<void> => {
    sent = 0;
    await button.press('Enter');
    await expect.poll(() => sent).toBe(1);
    await page.keyboard.press('Enter');
    respond();
    await page.getByRole('alert').getByText('The database is not available').waitFor();
    expect(sent, `the requests of ${button}`).toBe(1);
    expect(await hasFocus(button), `the focus after an error of ${button}`).toBe(true);
  };
  for (const [opener, title, submit] of [
    ['Suspend the project', 'Suspend the project?', 'Suspend the project'],
    ['Rename', 'Rename the project', 'Rename the project'],
  ] as const) {
    await page.getByRole('button', { name: opener, exact: true }).press('Enter');
    const dialog = page.getByRole('dialog', { name: title });
    await keepsFocus(dialog.getByRole('button', { name: submit }));
    await person.seen(`console-dialog-error-${opener.replaceAll(' ', '-').toLowerCase()}-dark-phone`);
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
  }
  for (const [path, button] of [
    ['/audit', 'Verify the log'],
    [`/signature?project=${project}`, 'Check the signature'],
  ] as const) {
    await page.goto(address(path));
    await keepsFocus(page.getByRole('button', { name: button }));
  }
  await person.close();
});
