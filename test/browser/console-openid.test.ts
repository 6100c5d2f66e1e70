import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { launch, Person } from './browser';
import { failOnErrors } from './console';
import { freeTCPPort, Server } from './server';

let browser: Browser;
let server: Server;
let provider: ChildProcess;
const folder = mkdtempSync(join(tmpdir(), 'openid-'));

beforeAll(async () => {
  const program = join(folder, 'provider');
  execFileSync('go', ['build', '-o', program, './serve'], { cwd: resolve(import.meta.dirname, '../openid') });
  const address = `127.0.0.1:${await freeTCPPort()}`;
  const client = ['--oidc-client-id', 'parley', '--oidc-client-secret', 'secret', '--oidc-name', 'Example Login'];
  server = await Server.startAtLocalhost('--oidc-issuer', `http://${address}`, ...client);
  const redirect = `${server.url}/console/openid/callback`;
  provider = spawn(program, ['--listen', address, '--client-id', 'parley', '--redirect', redirect], {
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  await vi.waitFor(() => fetch(`http://${address}/.well-known/openid-configuration`), 60_000);
  await addUser('ada@example.org', 'auditor');
  browser = await launch();
}, 300_000);

afterAll(async () => {
  provider?.kill();
  await browser?.close();
  await server?.close();
  rmSync(folder, { recursive: true, force: true });
});

failOnErrors(() => 'http://'); // the provider has another address

/** Adds a user as the owner. */
async function addUser(email: string, role: string): Promise<void> {
  const answer = await fetch(`${server.url}/api/manage/users`, {
    method: 'POST',
    headers: { authorization: `Bearer ${server.quickstart.admin_token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ email, role, name: '' }),
  });
  expect(answer.status, await answer.text()).toBe(200);
}

/** Presses the button of the provider on a page of the console, and signs in there. */
async function signInAs(person: Person, name: string, path = ''): Promise<void> {
  const { page } = person;
  await page.goto(`${server.url}/console${path}`);
  await page.getByRole('link', { name: 'Sign in with Example Login' }).click();
  await page.getByLabel('Username').fill(name);
  await page.getByLabel('Password').fill('verysecure');
  await page.getByRole('button').click();
}

test('a user signs in with OpenID Connect, signs out, and somebody unknown is turned away', async () => {
  const ada = await Person.arrive(browser);
  await signInAs(ada, 'ada');
  const account = ada.page.locator('.account');
  await account.getByText('ada@example.org').waitFor();
  await account.getByText('Auditor').waitFor();
  await ada.page.getByRole('button', { name: 'Sign out' }).click();
  await ada.page.getByRole('link', { name: 'Sign in with Example Login' }).waitFor();
  await ada.seen('console-openid');
  await ada.close();

  const eve = await Person.arrive(browser);
  await signInAs(eve, 'eve');
  await eve.page.getByRole('alert').getByText('Your account at the OpenID Connect provider may not use this console.').waitFor();
  expect(new URL(eve.page.url()).pathname).toBe('/console/sign-in');
  await eve.accessible('a failed sign-in with OpenID Connect');
  await eve.seen('console-openid-unknown');
  await eve.close();
});

test('a sign-in with OpenID Connect returns once to the page that was asked for', async () => {
  const person = await Person.arrive(browser);
  const { page } = person;
  await signInAs(person, 'eve', '/audit?action=user.created');
  await page.getByRole('alert').getByText('may not use this console').waitFor(); // the page is kept until a sign-in succeeds
  await page.getByRole('link', { name: 'Sign in with Example Login' }).click();
  await page.getByLabel('Username').fill('ada');
  await page.getByLabel('Password').fill('verysecure');
  await page.getByRole('button').click();
  await page.getByRole('heading', { level: 1, name: 'Audit log' }).waitFor();
  expect(page.url()).toBe(`${server.url}/console/audit?action=user.created`);

  await page.goto(`${server.url}/console`);
  await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor();
  expect(page.url()).toBe(`${server.url}/console`);
  await person.close();
});
