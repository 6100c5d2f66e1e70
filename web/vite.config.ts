import { resolve } from 'node:path';
import type { Plugin } from 'vite';
import { defineConfig } from 'vitest/config';
import { compress } from './build/compress.ts';
import { disableLoglevelStorage } from './build/loglevelStorage.ts';
import { packageList } from './build/packageList.ts';
import { preloadLinks } from './build/preloadLinks.ts';
import { splitMessages } from './build/splitMessages.ts';
import { staticImports } from './build/staticImports.ts';

/** The server behind `make dev`, which also has the pages that are built separately. */
const server = 'http://127.0.0.1:8080';

const source = (name: string): string => resolve(import.meta.dirname, 'src', name);
/** The modules of the first view. */
const [main, view] = [source('main.ts'), source('view.tsx')];
const entryModules = staticImports(main);
const viewModules = new Set([...staticImports(view)].filter((path) => !entryModules.has(path)));

/**
 * Browsers that know this comment compile the whole file in the background, instead of
 * each function when it is first called. Most of these two files is needed immediately.
 */
const compiledEagerly = new Set(['view', 'room']);

/**
 * Leaves out the calls with which LiveKit's client logs for debugging, because the page shows only
 * warnings and errors (src/room/index.ts). Their texts are more than a hundredth of the whole page.
 */
function dropDebugLogs(): Plugin {
  return {
    name: 'debug logs',
    apply: 'build',
    transform: {
      filter: { id: /\/node_modules\/livekit-client\// },
      handler(code) {
        const call = /(?<![\w.$])(?:\w+\.)?log\.(?:debug|trace)\(/g;
        if (!call.test(code)) throw new Error('livekit-client no longer has the calls that vite.config.ts leaves out');
        // The minifier removes what is never called.
        return { code: code.replace(call, 'false && $&'), map: null };
      },
    },
  };
}

export default defineConfig({
  resolve: {
    // The page is written for React and built with Preact, which does the same in a tenth
    // of the size.
    alias: [
      { find: /^react$|^react-dom$/, replacement: 'preact/compat' },
      { find: 'react-dom/client', replacement: 'preact/compat/client' },
      { find: /^react\/jsx(-dev)?-runtime$/, replacement: 'preact/jsx-runtime' },
    ],
  },
  server: {
    proxy: {
      '/api': server,
      '/healthz': server,
      '/console': server,
      '/docs': server,
      '/embed.js': server,
      '/rtc': { target: server, ws: true },
    },
  },
  build: {
    outDir: 'dist/app',
    emptyOutDir: true,
    // Read by the size test. The server does not use it.
    manifest: true,
    target: 'es2022',
    // The content security policy forbids data: scripts and inline styles, and a cached
    // file is worth more than a few saved bytes.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    // build/size.test.ts checks the size.
    chunkSizeWarningLimit: 700,
    rolldownOptions: {
      output: {
        postBanner: ({ name }) => (compiledEagerly.has(name) ? '//# allFunctionsCalledOnLoad' : ''),
        codeSplitting: {
          includeDependenciesRecursively: false,
          // One file, instead of one more for each set of shared modules.
          groups: [{ name: 'view', test: (id) => viewModules.has(id) || /\/node_modules\/preact\//.test(id) }],
        },
      },
    },
  },
  plugins: [
    splitMessages([main, view]),
    disableLoglevelStorage(),
    dropDebugLogs(),
    preloadLinks(view, source('room/index.ts')),
    packageList(),
    compress(),
  ],
  test: {
    setupFiles: ['src/messages/setup.ts'],
    reporters: ['default', ['json', { outputFile: '../test/artefacts/results/page.json' }]],
  },
});
