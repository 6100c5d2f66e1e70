import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import ts from 'typescript';

/** Source files with all of ours that comes with them: what they import, but not what they will ask for some time. */
export function staticImports(...paths: string[]): Set<string> {
  const seen = new Set<string>();
  const visit = (path: string): void => {
    if (seen.has(path)) return;
    seen.add(path);
    const { statements } = ts.createSourceFile(path, readFileSync(path, 'utf8'), ts.ScriptTarget.Latest);
    for (const statement of statements) {
      const from = importedPath(statement);
      const file = from && resolveFile(resolve(dirname(path), from));
      if (file) visit(file);
    }
  };
  paths.forEach(visit);
  return seen;
}

/** Which file of ours a statement loads; null when none, or only for its types. */
function importedPath(statement: ts.Statement): string | null {
  if (!ts.isImportDeclaration(statement) && !ts.isExportDeclaration(statement)) return null;
  const typesOnly = ts.isImportDeclaration(statement) ? statement.importClause?.isTypeOnly : statement.isTypeOnly;
  const from = statement.moduleSpecifier;
  return !typesOnly && from && ts.isStringLiteral(from) && from.text.startsWith('.') ? from.text : null;
}

const resolveFile = (name: string): string | undefined =>
  [`${name}.ts`, `${name}.tsx`, join(name, 'index.ts')].find((candidate) => existsSync(candidate));
