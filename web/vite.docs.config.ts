import { resolve } from 'node:path';
import { defineConfig } from 'vite';
import { compress } from './build/compress.ts';
import { docs } from './build/docs.ts';

/** The pages under /docs, built separately, so that neither build affects the size of the other. */
export default defineConfig({
  base: '/docs/',
  publicDir: false,
  build: {
    outDir: 'dist/app/docs',
    emptyOutDir: true,
    target: 'es2022',
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    // The viewer is one file of 1.7 MB, loaded on the three reference pages only.
    chunkSizeWarningLimit: 2000,
    rolldownOptions: {
      input: {
        guide: resolve(import.meta.dirname, 'docs/guide.ts'),
        theme: resolve(import.meta.dirname, 'docs/theme.ts'),
        viewer: resolve(import.meta.dirname, 'docs/viewer.ts'),
      },
    },
  },
  plugins: [docs(), compress()],
});
