import { execFileSync } from 'node:child_process';
import { createServer, type Server as HTTPServer } from 'node:http';
import { resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import type { Locator, Page } from 'playwright-core';
import { beforeAll } from 'vitest';
import { Person } from './browser';
import { checks } from './failure';
import { server, setUp } from './fixture';
import { fetchAgain, freeTCPPort, maxAgain } from './server';

export const roles = ['owner', 'operator', 'auditor', 'integrator'] as const;
export type Role = (typeof roles)[number];

/** The roles, and a customer with a portal link. */
export type Visitor = Role | 'portal';
export const visitors: Visitor[] = [...roles, 'portal'];

/** Those who may change organizations and nodes. */
export const operators: Visitor[] = ['owner', 'operator'];

/** Those who see all projects. */
export const readers: Visitor[] = [...operators, 'auditor'];

/** Those who may change the rooms and keys of a project. */
export const writers: Visitor[] = [...operators, 'integrator', 'portal'];

/** The management tokens of each role, and the project that the integrator may use. */
export const tokens = {} as Record<Role, string>;
export let project = '';

/**
 * Starts a server that may send webhooks to this machine. With the variable MEETINGS, its project has so many meetings of the past, except
 * for tests that do not depend on how much there is. An error in the console of a browser fails the test.
 */
export function setUpConsole({ past = true }: { past?: boolean } = {}): void {
  const flags = ['--webhook-allow-private'];
  setUp({ flags });
  failOnErrors(() => server.url);
  const { MEETINGS } = process.env;
  if (!MEETINGS || !past) return;
  beforeAll(async () => {
    await server.down('SIGTERM');
    const from = ['--data-dir', server.dataDir, '--project', server.quickstart.project_id ?? '', '--meetings', MEETINGS];
    execFileSync('go', ['run', './test/fill', ...from], { cwd: resolve(import.meta.dirname, '../..') });
    await server.up(...flags);
  }, 1_800_000);
}

/** Fails a test if a page of it has logged an error, or has called an address that does not begin with the origin. */
export function failOnErrors(origin: () => string): void {
  checks.push(() => {
    // The browser logs each response that is an error. The tests check what the page says about it.
    for (const person of Person.arrived.splice(0)) person.assertNoComplaints(origin(), [/^Failed to load resource: /]);
  });
}

/** Calls the management API as the owner, as fetchAgain does. */
export async function manage<T>(method: string, path: string, body?: object): Promise<T> {
  const answer = await fetchAgain(`${server.url}/api/manage${path}`, {
    method,
    headers: { authorization: `Bearer ${tokens.owner}`, ...(body && { 'content-type': 'application/json' }) },
    ...(body && { body: JSON.stringify(body) }),
  });
  if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${await answer.text()}`);
  return (await answer.json()) as T;
}

/** Makes a token of each role and a second project, whose name is Of somebody else. */
export async function makeTokens(): Promise<void> {
  tokens.owner = server.quickstart.admin_token ?? '';
  project = server.quickstart.project_id ?? '';
  await manage('POST', '/projects', { organization_id: server.quickstart.organization_id, name: 'Of somebody else' });
  for (const role of ['operator', 'auditor', 'integrator'] as const) {
    const made = await manage<{ token: string }>('POST', '/tokens', {
      name: `test ${role}`,
      role,
      ...(role === 'integrator' && { project_ids: [project] }),
    });
    tokens[role] = made.token;
  }
}

/** A receiver of webhooks that answers every request with one status, and keeps the bodies. */
export class Receiver {
  status = 500;
  readonly bodies: string[] = [];
  readonly url: string;
  readonly #server: HTTPServer;

  private constructor(port: number) {
    this.url = `http://127.0.0.1:${port}/hooks`;
    this.#server = createServer(async (request, response) => {
      this.bodies.push(await text(request));
      response.writeHead(this.status);
      response.end('the receiver has no space');
    }).listen(port, '127.0.0.1');
  }

  static async start(): Promise<Receiver> {
    return new Receiver(await freeTCPPort());
  }

  close(): void {
    this.#server.close();
  }
}

/** The address of a page of the console, at the address that the server prints. */
export const address = (path: string): string => `${server.url}/console${path}`;

/** Opens a page of the console as somebody with a role. */
export const signIn = (person: Person, role: Role, path = ''): Promise<Page> => signInWith(person, tokens[role], path);

/** Opens a page of the console as somebody with a token. */
export async function signInWith(person: Person, token: string, path = ''): Promise<Page> {
  await person.page.goto(address(path));
  await person.page.getByLabel('Management token').fill(token);
  for (let again = 0; again <= maxAgain; again++) {
    const [response] = await Promise.all([
      person.page.waitForResponse((one) => one.url().endsWith('/api/manage/sign-in')),
      person.page.getByRole('button', { name: 'Sign in' }).click(),
    ]);
    if (response.status() !== 503) break;
  }
  await person.page.getByRole('heading', { level: 1 }).filter({ hasNotText: 'Sign in' }).waitFor();
  return person.page;
}

/** Signs in with a portal link, which shows one project to a customer, usually the first one. */
export async function openPortal({ page }: Person, { name = 'Visitor', of = project } = {}): Promise<void> {
  const rights = { name, role: 'integrator', project_ids: [of] };
  await page.goto((await manage<{ url: string }>('POST', '/sign-in-links', rights)).url);
  await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor();
}

/** Opens a page of the console as one of the visitors. */
export async function visit(person: Person, visitor: Visitor, path: string): Promise<Page> {
  if (visitor !== 'portal') return signIn(person, visitor, path);
  await openPortal(person);
  await person.page.goto(address(path));
  return person.page;
}

/** Presses the button of an action inside a part of the page, and confirms it in its dialog. */
export async function act(
  page: Page,
  title: string,
  { label = title, within = page, fill }: { label?: string; within?: Page | Locator; fill?: (dialog: Locator) => Promise<void> } = {},
): Promise<void> {
  await within.getByRole('button', { name: label, exact: true }).first().click();
  const dialog = page.getByRole('dialog', { name: `${title}?` });
  await fill?.(dialog);
  await dialog.getByRole('button', { name: title, exact: true }).click();
  await dialog.waitFor({ state: 'hidden' });
}
