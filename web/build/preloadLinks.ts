import type { Plugin, Rolldown } from 'vite';

/**
 * Saves round trips: adds preload links for the files that draw the first view, and a list
 * of the room's files in a <meta> tag, which the page preloads when its address is that of
 * a room.
 */
export function preloadLinks(view: string, room: string): Plugin {
  return {
    name: 'ahead',
    apply: 'build',
    transformIndexHtml: {
      order: 'post',
      handler(_, { bundle = {}, chunk: entry }) {
        // The page already loads what the entry imports.
        const loadedByEntry = withImports(bundle, entry?.fileName ?? '');
        const firstViewFiles = withImports(bundle, fileOf(bundle, view));
        const files = without(withImports(bundle, fileOf(bundle, room)), loadedByEntry, firstViewFiles).flatMap((file) => [
          file,
          ...stylesOf(bundle, file),
        ]);
        return [
          ...without(firstViewFiles, loadedByEntry).map((file) => ({
            tag: 'link',
            attrs: { rel: 'modulepreload', crossorigin: true, href: `/${file}` },
            injectTo: 'head' as const,
          })),
          { tag: 'meta', attrs: { name: 'room', content: files.map((file) => `/${file}`).join(' ') }, injectTo: 'head' as const },
        ];
      },
    },
  };
}

/** Returns the output file that contains a module. */
function fileOf(bundle: Rolldown.OutputBundle, module: string): string {
  const chunk = Object.values(bundle).find((file) => file.type === 'chunk' && file.moduleIds.includes(module));
  if (!chunk) throw new Error(`${module} is in no file`);
  return chunk.fileName;
}

/** Returns a file and everything that it imports. */
function withImports(bundle: Rolldown.OutputBundle, file: string, seen = new Set<string>()): Set<string> {
  const chunk = bundle[file];
  if (seen.has(file) || chunk?.type !== 'chunk') return seen;
  seen.add(file);
  for (const imported of chunk.imports) withImports(bundle, imported, seen);
  return seen;
}

function without(files: Set<string>, ...others: Set<string>[]): string[] {
  return [...files].filter((file) => !others.some((other) => other.has(file)));
}

/** Returns the style sheets that belong to a file. */
function stylesOf(bundle: Rolldown.OutputBundle, file: string): string[] {
  const chunk = bundle[file];
  return chunk?.type === 'chunk' ? [...(chunk.viteMetadata?.importedCss ?? [])] : [];
}
