import type { Rolldown } from 'vite';

/** The tags of the entries of the build, for the heads of pages. */
export class EntryTags {
  constructor(private readonly bundle: Rolldown.OutputBundle) {}

  /** Returns the styles of entries, including shared ones, in the order in which they are imported. */
  styles(...entries: string[]): string {
    const tags = new Set<string>();
    const visit = (chunk: Rolldown.OutputChunk) => {
      for (const name of chunk.imports) {
        const imported = this.bundle[name];
        if (imported?.type === 'chunk') visit(imported);
      }
      for (const style of chunk.viteMetadata?.importedCss ?? []) {
        tags.add(`<link rel="stylesheet" href="/docs/${style}">\n`);
      }
    };
    for (const entry of entries) visit(this.entry(entry));
    return [...tags].join('');
  }

  /** Returns the script of an entry. With blocking, the page is first drawn when the script has run. */
  script(entry: string, { blocking = false } = {}): string {
    const { fileName } = this.entry(entry);
    return `<script type="module"${blocking ? ' blocking="render"' : ''} src="/docs/${fileName}"></script>\n`;
  }

  /**
   * Returns the script of the theme, which runs before the page is drawn in all browsers, because it is
   * not a module. It reads the styles, so that it follows them.
   */
  theme(): string {
    const { code, fileName } = this.entry('theme');
    if (/^\s*(?:import|export)\b/m.test(code)) throw new Error('theme.ts must be a script without imports and exports');
    return `<script src="/docs/${fileName}"></script>\n`;
  }

  private entry(name: string): Rolldown.OutputChunk {
    for (const chunk of Object.values(this.bundle)) {
      if (chunk.type === 'chunk' && chunk.isEntry && chunk.name === name) return chunk;
    }
    throw new Error(`the build has no entry ${name}`);
  }
}
