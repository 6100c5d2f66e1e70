import { readdirSync } from 'node:fs';
import { relative, resolve } from 'node:path';
import { expect, test } from 'vitest';
import { importedFiles } from './staticImports.ts';

const root = resolve(import.meta.dirname, '../src');

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

test('no file of the page imports itself through others, not even for types', () => {
  const files = readdirSync(root, { recursive: true, encoding: 'utf8' }).filter((file) => /\.tsx?$/.test(file));
  expect(files.length).toBeGreaterThan(100);
  const importsOf = (file: string): string[] => importedFiles(resolve(root, file), true).map((path) => relative(root, path));
  expect(findCycles(importsOf, files)).toEqual([]);
});
