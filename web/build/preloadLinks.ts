import type { Plugin, Rolldown } from 'vite';

/**
 * Saves round trips: the browser fetches what draws the first view beside the
 * script that asks for it, and the page can read what the room consists of, to
 * fetch it where its address is a room's.
 */
export function preloadLinks(view: string, room: string): Plugin {
  return {
    name: 'ahead',
    apply: 'build',
    transformIndexHtml: {
      order: 'post',
      handler(_, { bundle = {}, chunk: entry }) {
        // What the entry imports is in the page already.
        const loadedByEntry = withImports(bundle, entry?.fileName ?? '');
        const firstViewFiles = withImports(bundle, fileOf(bundle, view));
        const files = without(withImports(bundle, fileOf(bundle, room)), loadedByEntry, firstViewFiles).flatMap((file) => [file, ...stylesOf(bundle, file)]);
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

/** The file that a module is loaded with. */
function fileOf(bundle: Rolldown.OutputBundle, module: string): string {
  const chunk = Object.values(bundle).find((file) => file.type === 'chunk' && file.moduleIds.includes(module));
  if (!chunk) throw new Error(`${module} is in no file`);
  return chunk.fileName;
}

/** A file and all that it imports. */
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

/** The style sheets that come with a file. */
function stylesOf(bundle: Rolldown.OutputBundle, file: string): string[] {
  const chunk = bundle[file];
  return chunk?.type === 'chunk' ? [...(chunk.viteMetadata?.importedCss ?? [])] : [];
}
