// Builds the bare page into a folder, compressed as the room page is:
// node build.mjs FOLDER. It lies under /bare/.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { build } from 'vite';

const here = import.meta.dirname;
const outDir = resolve(process.argv[2]);

await build({
  root: join(here, 'bare'),
  base: '/bare/',
  configFile: false,
  logLevel: 'error',
  // The very file that the room page is built with.
  resolve: { alias: { 'livekit-client': resolve(here, '../../../web/node_modules/livekit-client/dist/livekit-client.esm.mjs') } },
  build: { outDir, emptyOutDir: true, target: 'es2022', modulePreload: { polyfill: false }, chunkSizeWarningLimit: 1000 },
});
for (const entry of readdirSync(outDir, { recursive: true, withFileTypes: true })) {
  if (!/\.(?:html|js|css)$/.test(entry.name)) continue;
  const path = join(entry.parentPath, entry.name);
  const body = readFileSync(path);
  writeFileSync(`${path}.gz`, gzipSync(body, { level: 9 }));
  writeFileSync(`${path}.br`, brotliCompressSync(body));
}
