import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import ts from 'typescript';

/** Returns the source files at these paths and everything of ours that they import statically. Dynamic imports are left out. */
export function staticImports(...paths: string[]): Set<string> {
  const seen = new Set<string>();
  const visit = (path: string): void => {
    if (seen.has(path)) return;
    seen.add(path);
    importedFiles(path).forEach(visit);
  };
  paths.forEach(visit);
  return seen;
}

/** Returns the files of ours that a file imports statically; with `typesToo`, also those it only needs for types. */
export function importedFiles(path: string, typesToo = false): string[] {
  const { statements } = ts.createSourceFile(path, readFileSync(path, 'utf8'), ts.ScriptTarget.Latest);
  return statements.flatMap((statement) => {
    const from = importedPath(statement, typesToo);
    return (from && resolveFile(resolve(dirname(path), from))) ?? [];
  });
}

/** Returns the relative path that a statement imports; null for packages and for type-only imports. */
function importedPath(statement: ts.Statement, typesToo: boolean): string | null {
  if (!ts.isImportDeclaration(statement) && !ts.isExportDeclaration(statement)) return null;
  const typesOnly = ts.isImportDeclaration(statement) ? statement.importClause?.isTypeOnly : statement.isTypeOnly;
  if (typesOnly && !typesToo) return null;
  const from = statement.moduleSpecifier;
  return from && ts.isStringLiteral(from) && from.text.startsWith('.') ? from.text : null;
}

const resolveFile = (name: string): string | undefined =>
  [`${name}.ts`, `${name}.tsx`, join(name, 'index.ts')].find((candidate) => existsSync(candidate));
