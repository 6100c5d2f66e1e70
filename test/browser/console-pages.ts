import { createHmac } from 'node:crypto';
import type { Page } from 'playwright-core';
import { expect, vi } from 'vitest';
import { address, makeTokens, manage, project, Receiver, type Role } from './console';
import { server } from './fixture';
import type { Room } from './server';

export const longTitle = 'Quarterly planning of the Northern region with guests from purchasing, legal and the board';

/** What makePages has made: a room, one of its deliveries, a rejected call, and the receiver of the deliveries. */
export let room: Room;
export let deliveryID = '';
export let rejectedID = '';
export let receiver: Receiver;

/** Makes what the pages show: rooms, rejected calls, a failing webhook target, an overlap, and a token of each role. */
export async function makePages(): Promise<void> {
  await makeTokens();
  receiver = await Receiver.start();
  await manage('PATCH', `/projects/${project}`, { default_webhook_url: receiver.url });
  room = await server.createMeeting({}, { title: longTitle });
  for (let n = 0; n < 55; n++) await server.createRoom();
  const body = JSON.stringify({ project_id: project });
  await fetch(`${server.url}/api/v3/rooms/create_quick_audio_room`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'hash-signature': createHmac('sha256', 'wrong').update(body).digest('base64') },
    body,
  });
  await fetch(`${server.url}/api/v5/keys`, { headers: { 'api-key': 'pk_mistyped', timestamp: '1', signature: '00' } });
  await manage('POST', `/projects/${project}/keys/rotate`, {});
  await vi.waitFor(async () => {
    const { calls } = await manage<{ calls: { request_id: string }[] }>('GET', `/calls?project_id=${project}&status=401`);
    rejectedID = calls[0]?.request_id ?? '';
    expect(rejectedID).not.toBe('');
  }, 60_000);
  const { webhooks } = await manage<{ webhooks: { delivery_id: string }[] }>('GET', `/webhooks?room_id=${room.room_id}`);
  deliveryID = webhooks.at(-1)?.delivery_id ?? '';
}

/** What makeStates has made: the IDs of projects, organizations, deliveries and a room in other states than those of makePages. */
export const made = { suspended: '', secret: '', closed: '', empty: '', pending: '', delivered: '', scheduled: '' };

/** Makes what makePages does not: each state in which the console has another button. */
export async function makeStates(): Promise<void> {
  const { organization_id } = server.quickstart;
  const create = async (path: string, body: object = {}): Promise<Record<string, string>> => manage('POST', path, body);
  const createProject = async (name: string): Promise<string> => (await create('/projects', { organization_id, name })).project_id ?? '';
  const createOrganization = async (name: string): Promise<string> =>
    (await create('/organizations', { name, billing: 'plan' })).organization_id ?? '';
  made.suspended = await createProject('Suspended');
  await create(`/projects/${made.suspended}/suspend`);
  made.secret = await createProject('Two secrets');
  await create(`/projects/${made.secret}/rotate-secret`);
  made.closed = await createOrganization('Closed');
  await create(`/organizations/${made.closed}/suspend`);
  made.empty = await createOrganization('Empty');
  await create('/users', { email: 'grace@example.org', name: 'Grace', role: 'auditor' });
  await create('/sign-in-links', { name: 'Customer', role: 'integrator', project_ids: [project] });
  made.scheduled = (await server.createMeeting({}, { start: new Date(Date.now() + 86_400_000), title: 'Tomorrow' })).room_id;

  const findDelivery = async (query: string, wanted: (one: { last_status: number }) => boolean): Promise<string> =>
    vi.waitFor(async () => {
      const list = await manage<{ webhooks: { delivery_id: string; last_status: number }[] }>('GET', `/webhooks?${query}`);
      const id = list.webhooks.find(wanted)?.delivery_id ?? '';
      expect(id).not.toBe('');
      return id;
    }, 60_000);
  receiver.status = 200;
  await create('/webhook-retries', { project_id: project, url: receiver.url });
  made.delivered = await findDelivery(`state=delivered&project_id=${project}`, () => true);
  receiver.status = 500;
  const { room_id } = await server.createRoom();
  made.pending = await findDelivery(`room_id=${room_id}`, ({ last_status }) => last_status === 500);
}

/** Opens a page and waits until it has loaded. */
export async function openPage(page: Page, path: string): Promise<void> {
  await page.goto(address(path));
  await page.getByRole('heading', { level: 1 }).waitFor();
  await expect.poll(() => page.locator('.loading, [aria-busy=true]').count()).toBe(0);
}

/** Shows two more nodes on the page of the nodes, of which one is draining. */
export async function withManyNodes(page: Page): Promise<void> {
  await page.route('**/api/manage/nodes', async (route) => {
    const { nodes } = (await (await route.fetch()).json()) as { nodes: object[] };
    const other = (node: string, state: object): object => ({ ...nodes[0], node, this_node: false, ...state });
    const drain_by = new Date(Date.now() + 60_000).toISOString();
    await route.fulfill({ json: { nodes: [...nodes, other('node-b', {}), other('node-c', { state: 'draining', drain_by })] } });
  });
}

interface ShownPage {
  name: string;
  path: string;
  /** A text of the page when it is complete. */
  shows: string;
  /** The roles that have no such page. */
  not?: Role[];
}

/** The pages of the console, after makePages. */
export const pages = (): ShownPage[] => [
  { name: 'overview', path: '', shows: 'Last 24 hours' },
  { name: 'rooms', path: '/rooms', shows: 'All rooms' },
  { name: 'room', path: `/rooms/${room.room_id}`, shows: longTitle },
  { name: 'requests', path: `/requests?project=${project}&status=401`, shows: 'Signature missing or wrong' },
  { name: 'request', path: `/requests/${rejectedID}?project=${project}`, shows: 'Clock of the client' },
  { name: 'webhooks', path: `/webhooks?project=${project}`, shows: 'Targets that fail' },
  { name: 'delivery', path: `/webhooks/${deliveryID}`, shows: 'Copy as curl' },
  { name: 'usage', path: `/usage?project=${project}`, shows: 'Usage by day' },
  { name: 'projects', path: '/projects', shows: 'Project ID' },
  { name: 'project', path: `/projects/${project}`, shows: 'Wait before you end the old key pair' },
  { name: 'organizations', path: '/organizations', shows: 'Organization ID', not: ['integrator'] },
  {
    name: 'organization',
    path: `/organizations/${server.quickstart.organization_id}`,
    shows: 'Price of a participant minute',
    not: ['integrator'],
  },
  { name: 'signature', path: `/signature?project=${project}`, shows: 'Check the signature' },
  { name: 'audit', path: '/audit', shows: 'Verify the log', not: ['integrator'] },
  { name: 'nodes', path: '/nodes', shows: 'serves this page', not: ['integrator'] },
  { name: 'settings', path: '/settings', shows: 'rtc_udp_port', not: ['integrator'] },
  { name: 'rejected', path: '/requests?view=anonymous', shows: 'Unknown API key', not: ['integrator'] },
  {
    name: 'usage-organization',
    path: `/usage?organization=${server.quickstart.organization_id}`,
    shows: 'By project',
    not: ['integrator'],
  },
  { name: 'users', path: '/team', shows: 'No users yet', not: ['integrator'] },
  { name: 'sessions', path: '/team?view=sessions', shows: 'Signed in', not: ['integrator'] },
  { name: 'team', path: '/team?view=tokens', shows: 'test operator', not: ['integrator'] },
];
