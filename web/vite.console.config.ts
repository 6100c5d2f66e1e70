import { resolve } from 'node:path';
import { defineConfig } from 'vite';
import { compress } from './build/compress.ts';

const source = (name: string): string => resolve(import.meta.dirname, name);

/** The page under /console, built separately, so that neither build affects the size of the other. */
export default defineConfig({
  root: source('console'),
  base: '/console/',
  publicDir: false,
  resolve: {
    // Built with Preact, as the room page is.
    alias: [
      { find: /^react$|^react-dom$/, replacement: 'preact/compat' },
      { find: 'react-dom/client', replacement: 'preact/compat/client' },
      { find: /^react\/jsx(-dev)?-runtime$/, replacement: 'preact/jsx-runtime' },
    ],
  },
  server: { proxy: { '/api': 'http://127.0.0.1:8080' } },
  build: {
    outDir: source('dist/app/console'),
    emptyOutDir: true,
    // Read by the size test. The server does not use it.
    manifest: true,
    target: 'es2022',
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
  },
  plugins: [compress()],
});
