import { resolve } from 'node:path';
import { defineConfig } from 'vite';
import { compress } from './build/compress.ts';

/** The script under /embed.js, built separately, because pages of other sites load it and nothing else. */
export default defineConfig({
  publicDir: false,
  build: {
    outDir: 'dist/app/embed',
    emptyOutDir: true,
    target: 'es2022',
    lib: {
      entry: resolve(import.meta.dirname, 'embed/index.ts'),
      // A classic script, because only such a script learns its own address.
      formats: ['iife'],
      name: 'parleyRoom',
      fileName: () => 'embed.js',
    },
  },
  plugins: [compress()],
});
