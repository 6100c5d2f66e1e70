import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';

/** The bound of a guide with its styles and scripts, compressed, without the search. */
const maxGuideBytes = 40_000;
/** The bound of the search and its index, compressed, which a page loads when the field gets the focus. */
const maxSearchBytes = 80_000;

const root = resolve(import.meta.dirname, '../dist/app/docs');

describe.skipIf(!existsSync(join(root, 'assets')))('the built documentation', () => {
  const files = existsSync(root) ? readdirSync(root).filter((name) => name.endsWith('.html')) : [];
  const compressed = (path: string): number => gzipSync(readFileSync(join(root, path)), { level: 9 }).length;
  const assets = existsSync(join(root, 'assets')) ? readdirSync(join(root, 'assets')) : [];
  const read = (name: string): string => readFileSync(join(root, name), 'utf8');
  const guides = files.filter((name) => read(name).includes('rel="alternate"'));

  test('has guides', () => expect(guides.length).toBeGreaterThan(8));

  test.each(guides)('has no more than 40 kB for a guide: %s', (name) => {
    const parts = [...read(name).matchAll(/(?:href|src)="\/docs\/(assets\/[^"]+)"/g)].map(([, path = '']) => path);
    expect(parts.length).toBeGreaterThan(2);
    expect(parts.reduce((sum, path) => sum + compressed(path), compressed(name))).toBeLessThanOrEqual(maxGuideBytes);
  });

  test('has no more than 80 kB for the search', () => {
    const parts = assets.filter((name) => /^search.*\.(?:js|json)$/.test(name));
    expect(parts).toHaveLength(2);
    expect(parts.reduce((sum, name) => sum + compressed(`assets/${name}`), 0)).toBeLessThanOrEqual(maxSearchBytes);
  });

  test.each(files)('has no inline code and refers to no other host: %s', (name) => {
    const html = read(name);
    expect(html).not.toMatch(/<script(?![^>]*\ssrc=)/);
    expect(html).not.toMatch(/<style|<[^>]*\s(?:style|on\w+)=/);
    expect(html).not.toMatch(/(?:src|href)="(?![/#])/);
  });
});
