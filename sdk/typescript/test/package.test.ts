import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import type { RoomEvent } from '@parley/sdk';
import { ParleyClient, VERSION } from '@parley/sdk';
import { connect } from './server.js';

const root = fileURLToPath(new URL('../../', import.meta.url));

test('the version is that of the package, and part of the header User-Agent', async (t) => {
  const { version } = JSON.parse(readFileSync(`${root}package.json`, 'utf8'));
  assert.equal(VERSION, version);
  const { client, requests } = await connect(t, () => ({ body: 'openapi: 3.1.0' }));
  await client.openapi({ version: 3 });
  assert.equal(requests[0]?.headers['user-agent'], `parley-typescript/${version}`);
});

test('the package uses nothing that only Node has', () => {
  for (const name of readdirSync(`${root}dist`, { recursive: true, encoding: 'utf8' })) {
    if (!name.endsWith('.js')) continue;
    const code = readFileSync(`${root}dist/${name}`, 'utf8');
    assert.doesNotMatch(code, /['"]node:|\brequire\(|\bprocess\.env\b|\bBuffer\b/, name);
  }
});

test('the code blocks of the README compile', () => {
  const folder = `${root}build/readme`;
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const blocks = [...readFileSync(`${root}README.md`, 'utf8').matchAll(/^```ts\n(.*?)^```$/gms)];
  assert.ok(blocks.length > 5);
  for (const [index, [, code = '']] of blocks.entries()) writeFileSync(`${folder}/block${index + 1}.ts`, code);
  const compilerOptions = { noEmit: true, rootDir: '.', declaration: false, types: ['node'] };
  writeFileSync(
    `${folder}/tsconfig.json`,
    JSON.stringify({ extends: '../../tsconfig.json', compilerOptions, include: ['.'] }),
  );
  execFileSync(process.execPath, [`${root}node_modules/typescript/bin/tsc`, '-p', folder], { stdio: 'pipe' });
});

test('the type of an event decides on the type of its data', () => {
  // The compiler is the test: without the check of the type, the fields would not exist.
  const describe = (event: RoomEvent): string => {
    if (event.type === 'participant.left') return event.data.participant.reason;
    if (event.type === 'room.scheduled') return event.data.start_at;
    return event.data.room_id;
  };
  assert.equal(typeof describe, 'function');
});

test('a client is created with the content of quickstart.json', () => {
  const quickstart = {
    base_url: 'http://127.0.0.1:8080',
    organization_id: 'o',
    project_id: '0197c9b4-5a3e-7c11-b1a4-6c0b5d7f2e10',
    api_key: 'pk_x',
  };
  assert.equal(new ParleyClient(quickstart).toJSON().base_url, quickstart.base_url);
});
