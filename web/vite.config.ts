import { defineConfig } from 'vitest/config';
import { resolve } from 'node:path';
import { compress } from './build/compress.ts';
import { messages } from './build/messages.ts';

/** A server that runs beside `npm run dev`. */
const server = 'http://127.0.0.1:8080';

export default defineConfig({
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
  },
  plugins: [messages(resolve(import.meta.dirname, 'src')), compress()],
  test: { setupFiles: ['src/messages/setup.ts'] },
});
