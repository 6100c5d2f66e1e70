import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { minCompressBytes } from './compress.ts';

/** The bound of everything that the console loads, charts included. */
const maxBytes = 90_000;

const root = resolve(import.meta.dirname, '../dist/app/console');

describe.skipIf(!existsSync(root))('the built console', () => {
  const files = existsSync(join(root, 'assets')) ? readdirSync(join(root, 'assets')).filter((name) => /\.(?:js|css)$/.test(name)) : [];
  const html = existsSync(join(root, 'index.html')) ? readFileSync(join(root, 'index.html'), 'utf8') : '';
  const read = (name: string): Buffer => readFileSync(join(root, 'assets', name));

  test('has no more than 90 kB, compressed', () => {
    expect(files.length).toBeGreaterThan(1);
    const bytes = [html, ...files.map(read)].reduce((sum, file) => sum + gzipSync(file, { level: 9 }).length, 0);
    expect(bytes).toBeLessThanOrEqual(maxBytes);
  });

  test('has no inline code and refers to no other host', () => {
    expect(html).not.toMatch(/<script(?![^>]*\ssrc=)/);
    expect(html).not.toMatch(/<style|\sstyle=|\son\w+=/);
    expect(html).not.toMatch(/(?:src|href)="(?!\/)/);
  });

  test('has a compressed copy of each text file', () => {
    for (const name of files) {
      if (statSync(join(root, 'assets', name)).size < minCompressBytes) continue;
      for (const form of ['gz', 'br']) expect(existsSync(join(root, 'assets', `${name}.${form}`)), `${name}.${form}`).toBe(true);
    }
  });

  test('neither reads nor writes cookies', () => {
    expect(files.filter((name) => read(name).includes('document.cookie'))).toEqual([]);
  });
});
