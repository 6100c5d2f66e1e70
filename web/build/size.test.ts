import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';

// What a visitor's connection has to carry. The goals are for JavaScript,
// compressed, as the browser gets it.
const firstView = 90_000;
const everything = 300_000;

interface Chunk {
  file: string;
  imports?: string[];
  dynamicImports?: string[];
}

const root = resolve(import.meta.dirname, '../dist/app');
const manifest = join(root, '.vite/manifest.json');

describe.skipIf(!existsSync(manifest))('the built page', () => {
  const chunks = existsSync(manifest)
    ? (JSON.parse(readFileSync(manifest, 'utf8')) as Record<string, Chunk>)
    : {};

  /** The chunks that loading this one loads; with `later`, also what it may load some time. */
  function loads(name: string, later: boolean, seen = new Set<string>()): Set<string> {
    const chunk = chunks[name];
    if (!chunk || seen.has(name)) return seen;
    seen.add(name);
    const next = [...(chunk.imports ?? []), ...(later ? (chunk.dynamicImports ?? []) : [])];
    for (const other of next) loads(other, later, seen);
    return seen;
  }

  function weight(names: Set<string>): number {
    let bytes = 0;
    for (const name of names) {
      const file = chunks[name]?.file;
      if (file?.endsWith('.js')) bytes += gzipSync(readFileSync(join(root, file)), { level: 9 }).length;
    }
    return bytes;
  }

  test('shows its first view with no more than 90 kB of JavaScript', () => {
    expect(weight(loads('index.html', false))).toBeLessThanOrEqual(firstView);
  });

  test('is complete, room and all, with no more than 300 kB', () => {
    expect(weight(loads('index.html', true))).toBeLessThanOrEqual(everything);
  });

  test('keeps the room out of the first view', () => {
    expect([...loads('index.html', false)]).not.toContain('src/room/index.ts');
    expect([...loads('index.html', true)]).toContain('src/room/index.ts');
  });

  test('has nothing inline, and names no other host', () => {
    const html = readFileSync(join(root, 'index.html'), 'utf8');
    expect(html).not.toMatch(/<script(?![^>]*\ssrc=)/);
    expect(html).not.toMatch(/<style|\sstyle=|\son\w+=/);
    expect(html).not.toMatch(/(?:src|href)="(?!\/)/);
  });

  test('has each text file compressed beside it', () => {
    for (const { file } of Object.values(chunks)) {
      for (const form of ['gz', 'br']) expect(existsSync(join(root, `${file}.${form}`)), `${file}.${form}`).toBe(true);
    }
  });
});
