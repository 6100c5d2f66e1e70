import { readFileSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import ts from 'typescript';
import type { Plugin } from 'vite';

const asked = /^(.*\/messages\/(\w+)\.ts)\?(page|room)$/;

/**
 * Halves each message file: `de.ts?page` is what the first view says, and
 * `de.ts?room` what only the room says, which is loaded with it. The sources
 * tell which is which: whoever writes a message has nothing to sort.
 */
export function messages(sources: string): Plugin {
  let said: Promise<string> | null = null;
  return {
    name: 'messages',
    enforce: 'pre',
    buildStart() {
      said = null;
    },
    async load(id) {
      const [, file, language, part] = asked.exec(id) ?? [];
      if (!file || !language) return null;
      this.addWatchFile(file);
      said ??= firstView(sources);
      const first = await said;
      const all = await evaluate(file, language);
      const wanted = Object.entries(all).filter(([key]) => first.includes(`'${key}'`) === (part === 'page'));
      return { code: `export default ${JSON.stringify(Object.fromEntries(wanted))}`, moduleType: 'js' };
    },
  };
}

/** Everything that is written outside the room. */
async function firstView(sources: string): Promise<string> {
  const paths = await readdir(sources, { recursive: true });
  const outside = paths.filter((path) => /\.tsx?$/.test(path) && !/^(?:room|messages)\/|\.test\./.test(path));
  return (await Promise.all(outside.map((path) => readFile(join(sources, path), 'utf8')))).join('\n');
}

async function evaluate(file: string, language: string): Promise<Record<string, unknown>> {
  const { outputText } = ts.transpileModule(readFileSync(file, 'utf8'), {
    compilerOptions: { module: ts.ModuleKind.ESNext, target: ts.ScriptTarget.ES2022 },
  });
  const module = (await import(`data:text/javascript,${encodeURIComponent(outputText)}`)) as Record<string, Record<string, unknown>>;
  const found = module[language];
  if (!found) throw new Error(`${file} exports no ${language}`);
  return found;
}
