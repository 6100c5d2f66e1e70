import { defineConfig } from 'vitest/config';
import { resolve } from 'node:path';
import { preloadLinks } from './build/preloadLinks.ts';
import { compress } from './build/compress.ts';
import { disableLoglevelStorage } from './build/loglevelStorage.ts';
import { staticImports } from './build/staticImports.ts';
import { splitMessages } from './build/splitMessages.ts';

/** A server that runs beside `npm run dev`. */
const server = 'http://127.0.0.1:8080';

const source = (name: string): string => resolve(import.meta.dirname, 'src', name);
/** What the first view is loaded with. */
const [main, view] = [source('main.ts'), source('view.tsx')];
const entryModules = staticImports(main);
const viewModules = new Set([...staticImports(view)].filter((path) => !entryModules.has(path)));

/**
 * Of these most is needed as soon as they are there: browsers that know the
 * mark compile them whole, beside the page, instead of one function after the
 * other while somebody waits.
 */
const compiledEagerly = new Set(['view', 'room']);

export default defineConfig({
  resolve: {
    // The page is written for React and built with Preact, which does the same
    // in a tenth of the bytes: whoever joins waits for that much less.
    alias: [
      { find: /^react$|^react-dom$/, replacement: 'preact/compat' },
      { find: 'react-dom/client', replacement: 'preact/compat/client' },
      { find: 'react/jsx-runtime', replacement: 'preact/jsx-runtime' },
    ],
  },
  server: { proxy: { '/api': server, '/rtc': { target: server, ws: true } } },
  build: {
    outDir: 'dist/app',
    emptyOutDir: true,
    // The size test reads it; the server has no use for it.
    manifest: true,
    target: 'es2022',
    // The policy allows no data: script and no inline style, and one cached
    // file is worth more than a few saved bytes.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    // build/size.test.ts holds the room to its size.
    chunkSizeWarningLimit: 700,
    rolldownOptions: {
      output: {
        postBanner: ({ name }) => (compiledEagerly.has(name) ? '//# allFunctionsCalledOnLoad' : ''),
        codeSplitting: {
          includeDependenciesRecursively: false,
          // One file, not one more for each set of those who share something of it.
          groups: [{ name: 'view', test: (id) => viewModules.has(id) || /\/node_modules\/preact\//.test(id) }],
        },
      },
    },
  },
  plugins: [splitMessages([main, view]), disableLoglevelStorage(), preloadLinks(view, source('room/index.ts')), compress()],
  test: { setupFiles: ['src/messages/setup.ts'] },
});
