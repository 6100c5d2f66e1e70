import { readFileSync } from 'node:fs';
import ts from 'typescript';
import type { Plugin } from 'vite';
import { staticImports } from './staticImports.ts';

const partRequest = /^(.*\/messages\/(\w+)\.ts)\?(first|rest)$/;

/**
 * Splits each message file into two: `de.ts?first` has the messages of the first view and
 * `de.ts?rest` has all others. The split follows the imports, so that authors of messages
 * do not have to sort them. `firstView` lists the modules that the first view is loaded
 * with.
 */
export function splitMessages(firstView: string[]): Plugin {
  let firstViewSource: string | null = null;
  return {
    name: 'messages',
    enforce: 'pre',
    buildStart() {
      firstViewSource = null;
    },
    async load(id) {
      const [, file, language, part] = partRequest.exec(id) ?? [];
      if (!file || !language) return null;
      this.addWatchFile(file);
      firstViewSource ??= [...staticImports(...firstView)].map((path) => readFileSync(path, 'utf8')).join('\n');
      const first = firstViewSource;
      const all = await evaluate(file, language);
      const wanted = Object.entries(all).filter(([key]) => first.includes(`'${key}'`) === (part === 'first'));
      return { code: `export default ${JSON.stringify(Object.fromEntries(wanted))}`, moduleType: 'js' };
    },
  };
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
