import { existsSync, readFileSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { minCompressBytes } from './compress.ts';

// The bounds for the JavaScript that a visitor downloads, compressed, per language. The
// messages of one language are part of the first view and of the room. The bound of the whole
// page is below its goal of 230 kB, so that a test fails before the difference is used up.
const maxFirstViewBytes = 35_000;
const maxTotalBytes = 223_000;

interface Chunk {
  file: string;
  name?: string;
  imports?: string[];
  css?: string[];
  dynamicImports?: string[];
}

const root = resolve(import.meta.dirname, '../dist/app');
const manifest = join(root, '.vite/manifest.json');

describe.skipIf(!existsSync(manifest))('the built page', () => {
  const chunks = existsSync(manifest) ? (JSON.parse(readFileSync(manifest, 'utf8')) as Record<string, Chunk>) : {};

  /** Returns the language and the part (first view or rest) of a chunk of messages; null for other chunks. */
  function messagePartOf(name: string): { language: string; part: string } | null {
    const [, language, part] = /^src\/messages\/(\w+)\.ts\?(first|rest)$/.exec(name) ?? [];
    return language && part ? { language, part } : null;
  }
  const languages = Object.keys(chunks).flatMap((name) => {
    const entry = messagePartOf(name);
    return entry?.part === 'first' ? [entry.language] : [];
  });
  /** The chunk that draws the first view. The entry requests it and the messages immediately. */
  const view = Object.keys(chunks).find((name) => chunks[name]?.name === 'view') ?? '';

  /** The page of a connection check, which no visitor of a room loads. */
  const isOtherPage = (name: string): boolean => name.startsWith('src/check/');

  /**
   * Returns the chunks that a chunk loads for one language; with `withLazyParts`, also
   * those that it may load later.
   */
  function loadedChunks(name: string, language: string, withLazyParts: boolean, seen = new Set<string>()): Set<string> {
    const chunk = chunks[name];
    if (!chunk || seen.has(name)) return seen;
    seen.add(name);
    const may = (chunk.dynamicImports ?? []).filter((other) => {
      const entry = messagePartOf(other);
      if (isOtherPage(other)) return false;
      return entry ? entry.language === language && (withLazyParts || entry.part === 'first') : withLazyParts || other === view;
    });
    for (const other of [...(chunk.imports ?? []), ...may]) loadedChunks(other, language, withLazyParts, seen);
    return seen;
  }

  function compressedBytes(names: Set<string>): number {
    let bytes = 0;
    for (const name of names) {
      const file = chunks[name]?.file;
      if (file?.endsWith('.js')) bytes += gzipSync(readFileSync(join(root, file)), { level: 9 }).length;
    }
    return bytes;
  }

  test('has six languages', () => {
    expect(languages).toHaveLength(6);
  });

  test.each(languages)('shows its first view with no more than 35 kB of JavaScript: %s', (language) => {
    expect(compressedBytes(loadedChunks('index.html', language, false))).toBeLessThanOrEqual(maxFirstViewBytes);
  });

  test.each(languages)('is complete, including the room, with no more than 223 kB: %s', (language) => {
    expect(compressedBytes(loadedChunks('index.html', language, true))).toBeLessThanOrEqual(maxTotalBytes);
  });

  test.each(languages)('keeps the room and the other languages out of the first view: %s', (language) => {
    const first = [...loadedChunks('index.html', language, false)];
    expect(first).toContain(view);
    expect(first).not.toContain('src/room/index.ts');
    expect(first).not.toContain('src/screens/lazyScreens.ts');
    expect(first.filter(messagePartOf)).toEqual([`src/messages/${language}.ts?first`]);
    expect([...loadedChunks('index.html', language, true)]).toContain('src/room/index.ts');
  });

  test('preloads what draws the first view', () => {
    const html = readFileSync(join(root, 'index.html'), 'utf8');
    const needed = [...loadedChunks(view, 'none', false)].map((name) => chunks[name]);
    for (const chunk of needed) {
      expect(html).toContain(
        chunk === chunks['index.html'] ? `src="/${chunk?.file}"` : `rel="modulepreload" crossorigin href="/${chunk?.file}"`,
      );
    }
  });

  test('lists the other files of the room, so that the page can preload them', () => {
    const html = readFileSync(join(root, 'index.html'), 'utf8');
    const there = new Set([...loadedChunks('index.html', 'none', false), ...loadedChunks(view, 'none', false)]);
    const needed = [...loadedChunks('src/room/index.ts', 'none', false)].filter((name) => !there.has(name));
    const files = needed.flatMap((name) => [chunks[name]?.file, ...(chunks[name]?.css ?? [])]);
    const listed = /<meta name="room" content="(.*)">/.exec(html)?.[1]?.split(' ');
    expect(listed?.toSorted()).toEqual(files.map((file) => `/${file}`).toSorted());
  });

  test.each(['view', 'room'])('makes browsers compile the whole file: %s', (name) => {
    const chunk = Object.values(chunks).find((one) => one.name === name);
    expect(readFileSync(join(root, chunk?.file ?? ''), 'utf8')).toMatch(/^\/\/# allFunctionsCalledOnLoad\n/);
  });

  test('has no inline code and refers to no other host', () => {
    const html = readFileSync(join(root, 'index.html'), 'utf8');
    expect(html).not.toMatch(/<script(?![^>]*\ssrc=)/);
    expect(html).not.toMatch(/<style|\sstyle=|\son\w+=/);
    expect(html).not.toMatch(/(?:src|href)="(?!\/)/);
  });

  test('has a compressed copy of each text file', () => {
    for (const { file } of Object.values(chunks)) {
      if (statSync(join(root, file)).size < minCompressBytes) continue;
      for (const form of ['gz', 'br']) expect(existsSync(join(root, `${file}.${form}`)), `${file}.${form}`).toBe(true);
    }
  });

  test('neither reads nor writes cookies', () => {
    const files = Object.values(chunks)
      .map(({ file }) => file)
      .filter((file) => file.endsWith('.js'));
    expect(files.length).toBeGreaterThan(10);
    expect(files.filter((file) => readFileSync(join(root, file), 'utf8').includes('document.cookie'))).toEqual([]);
  });
});
