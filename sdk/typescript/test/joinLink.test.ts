import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { test } from 'node:test';
import { inspect } from 'node:util';
import type { JoinLinkClaims, JoinLinkRequest } from '@parley/sdk';
import { InvalidArgumentError, MissingCredentialError, ParleyClient, signJoinLink } from '@parley/sdk';
import { connect, credentials, projectSecret, rejection, roomId } from './server.js';

const base_url = 'https://meet.example.org';
const prefix = `${base_url}/r/${roomId}#j=`;
const client = new ParleyClient({ base_url, project_secret: projectSecret });

/** Returns the claims of a token after a check of its header and its signature. */
function verified(token: string): Record<string, unknown> {
  const [header = '', claims = '', signature, ...rest] = token.split('.');
  assert.deepEqual(rest, []);
  assert.equal(Buffer.from(header, 'base64url').toString(), '{"alg":"HS256","typ":"JWT"}');
  assert.equal(signature, createHmac('sha256', projectSecret).update(`${header}.${claims}`).digest('base64url'));
  return JSON.parse(Buffer.from(claims, 'base64url').toString());
}

/** Returns the claims of a link without its ID and its times, which are checked. */
function claimsOf(link: string, age: number, ahead = 0): Record<string, unknown> {
  assert.ok(link.startsWith(prefix), link);
  const { jti, iat, exp, ...claims } = verified(link.slice(prefix.length));
  assert.match(String(jti), /^[0-9a-f]{32}$/);
  assert.ok(Number.isInteger(iat) && Math.abs(Number(iat) - Date.now() / 1000 - ahead) < 3, String(iat));
  assert.equal(Number(exp) - Number(iat), age);
  return claims;
}

test('a link has the claims of its arguments', async () => {
  assert.deepEqual(claimsOf(await client.signJoinLink({ room_id: roomId }), 3600), { room_id: roomId, role: 'guest' });
  const person = { room_id: roomId, name: `Zoë ${'🎉'.repeat(251)}`, user_id: '4711' } as const;
  const all = { ...person, role: 'host', single_use: true } as const;
  assert.deepEqual(claimsOf(await client.signJoinLink({ ...all, expires_in: 86_400 }), 86_400), all);
  const least = { room_id: roomId, role: 'cohost', name: '', user_id: undefined, single_use: false } as const;
  const expected = { room_id: roomId, role: 'cohost' };
  assert.deepEqual(claimsOf(await client.signJoinLink({ ...least, expires_in: 1 }), 1), expected);
});

test('two links differ', async () => {
  const links = await Promise.all(Array.from({ length: 20 }, () => client.signJoinLink({ room_id: roomId })));
  assert.equal(new Set(links).size, 20);
});

test('the ID of the room is escaped in the address', async () => {
  const link = await client.signJoinLink({ room_id: 'a/b #é' });
  assert.ok(link.startsWith(`${base_url}/r/a%2Fb%20%23%C3%A9#j=`), link);
  assert.equal(verified(link.split('#j=')[1] ?? '').room_id, 'a/b #é');
});

test('a link is issued at the time of the server, and nothing is sent', async (t) => {
  const { client, requests, base_url } = await connect(t, () => ({
    body: { status: true, message: 'm' },
    headers: { Date: new Date(Date.now() + 7_200_000).toUTCString() },
  }));
  await client.roomStatus({ room_id: roomId });
  const link = await client.signJoinLink({ room_id: roomId });
  claimsOf(link.replace(base_url, 'https://meet.example.org'), 3600, 7200);
  assert.equal(requests.length, 1);
});

test('a bad argument of a link is refused', async () => {
  const text = (field: string) => `${field} must be a string of at most 255 Unicode characters`;
  const age = 'expires_in must be an integer between 1 and 86400';
  const role = 'role must be "host", "cohost" or "guest"';
  for (const [fields, message] of [
    [{ room_id: '' }, 'room_id must be a string that is not empty'],
    [{ room_id: 5 }, 'room_id must be a string that is not empty'],
    [{ room_id: '..' }, 'room_id must not be ".."'],
    [{ role: 'admin' }, role],
    [{ role: '' }, role],
    [{ role: projectSecret }, role],
    [{ name: 'ä'.repeat(256) }, text('name')],
    [{ name: 5 }, text('name')],
    [{ name: 'a\ud800' }, text('name')],
    [{ user_id: '🎉'.repeat(256) }, text('user_id')],
    [{ single_use: 'true' }, 'single_use must be a boolean'],
    [{ single_use: 0 }, 'single_use must be a boolean'],
    [{ expires_in: 0 }, age],
    [{ expires_in: 86_401 }, age],
    [{ expires_in: 1.5 }, age],
    [{ expires_in: Number.NaN }, age],
    [{ expires_in: '60' }, age],
    [{ userid: '4711' }, 'a join link has no field userid'],
  ] as const) {
    const request = { room_id: roomId, ...(fields as object) } as JoinLinkRequest;
    const error = await rejection(client.signJoinLink(request), InvalidArgumentError);
    assert.equal(error.message, message, inspect(fields));
    assert.equal(inspect(error, { showHidden: true }).includes(projectSecret), false);
  }
  await rejection(client.signJoinLink(undefined as unknown as JoinLinkRequest), InvalidArgumentError);
});

test('a link needs the project secret', async () => {
  const without = new ParleyClient({ base_url, ...credentials, project_secret: undefined });
  const error = await rejection(without.signJoinLink({ room_id: roomId }), MissingCredentialError);
  assert.equal(error.remedy, 'Pass project_secret to the client.');
});

test('signJoinLink signs the claims that it gets, and refuses bad ones', async () => {
  const claims = { room_id: 'r', role: 'guest', iat: 1_767_225_600, exp: 1_767_225_601 } as const;
  assert.deepEqual(verified(await signJoinLink(projectSecret, claims)), claims);
  const single = { ...claims, single_use: true, jti: 'a1' };
  assert.deepEqual(verified(await signJoinLink(projectSecret, single)), single);
  const host = { ...claims, role: 'host', jti: 'a1' } as const;
  assert.deepEqual(verified(await signJoinLink(projectSecret, host)), host);
  await rejection(signJoinLink('', claims), InvalidArgumentError);
  for (const fields of [
    { room_id: '' },
    { role: 'admin' },
    { single_use: true },
    { role: 'host' },
    { role: 'cohost', jti: '' },
    { jti: 5 },
    { iat: 1.5 },
    { exp: claims.iat },
    { exp: claims.iat + 86_401 },
    { exp: '1767225601' },
    { sub: 'x' },
  ]) {
    const wrong = { ...claims, ...fields } as unknown as JoinLinkClaims;
    await rejection(signJoinLink(projectSecret, wrong), InvalidArgumentError);
  }
});
