import { readdirSync } from 'node:fs';
import { relative, resolve } from 'node:path';
import { expect, test } from 'vitest';
import { importedFiles } from './staticImports.ts';

const web = resolve(import.meta.dirname, '..');

/** Returns every cycle that a depth-first search finds, as a chain of paths. */
function findCycles(importsOf: (file: string) => string[], files: string[]): string[] {
  const cycles: string[] = [];
  const done = new Set<string>();
  const visit = (file: string, chain: string[]): void => {
    const start = chain.indexOf(file);
    if (start >= 0) cycles.push([...chain.slice(start), file].join(' -> '));
    if (start >= 0 || done.has(file)) return;
    for (const imported of importsOf(file)) visit(imported, [...chain, file]);
    done.add(file);
  };
  for (const file of files) visit(file, []);
  return cycles;
}

test('a cycle is found', () => {
  const imports: Record<string, string[]> = { a: ['b'], b: ['c', 'd'], c: [], d: ['b'] };
  expect(findCycles((file) => imports[file] ?? [], ['a'])).toEqual(['b -> d -> b']);
});

test.each([
  ['src', 100],
  ['console', 20],
])('no file of %s imports itself through others, not even for types', (folder, least) => {
  const files = readdirSync(resolve(web, folder), { recursive: true, encoding: 'utf8' })
    .filter((file) => /\.tsx?$/.test(file))
    .map((file) => `${folder}/${file}`);
  expect(files.length).toBeGreaterThan(least);
  const importsOf = (file: string): string[] => importedFiles(resolve(web, file), true).map((path) => relative(web, path));
  expect(findCycles(importsOf, files)).toEqual([]);
});
