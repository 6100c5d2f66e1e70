// Builds the page bare or components into a folder, compressed as the room page is:
// node build.mjs PAGE FOLDER. It lies under /PAGE/.
import { execFileSync } from 'node:child_process';
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { build } from 'vite';

const here = import.meta.dirname;
const [page, folder] = process.argv.slice(2);
const outDir = resolve(folder);

/** What the room page does without, so it is installed outside the tree. */
const packages = {
  bare: [],
  components: ['@livekit/components-react@3.0.0', '@livekit/components-styles@1.2.0', 'react@19.2.0', 'react-dom@19.2.0', 'tslib@2.8.1'],
};

const root = mkdtempSync(join(tmpdir(), 'page-'));
try {
  cpSync(join(here, page), root, { recursive: true });
  cpSync(join(here, 'seat.js'), join(root, 'seat.js'));
  if (packages[page].length > 0) {
    writeFileSync(join(root, 'package.json'), '{"private": true}');
    execFileSync('npm', ['install', '--no-audit', '--no-fund', '--ignore-scripts', ...packages[page]], { cwd: root, stdio: ['ignore', 'ignore', 'inherit'] });
  }
  await build({
    root,
    base: `/${page}/`,
    configFile: false,
    logLevel: 'error',
    define: { 'process.env.NODE_ENV': '"production"' },
    // The very file that the room page is built with.
    resolve: { alias: { 'livekit-client': resolve(here, '../../../web/node_modules/livekit-client/dist/livekit-client.esm.mjs') } },
    build: { outDir, emptyOutDir: true, target: 'es2022', modulePreload: { polyfill: false }, chunkSizeWarningLimit: 2000 },
  });
} finally {
  rmSync(root, { recursive: true, force: true });
}
for (const entry of readdirSync(outDir, { recursive: true, withFileTypes: true })) {
  if (!/\.(?:html|js|css)$/.test(entry.name)) continue;
  const path = join(entry.parentPath, entry.name);
  const body = readFileSync(path);
  writeFileSync(`${path}.gz`, gzipSync(body, { level: 9 }));
  writeFileSync(`${path}.br`, brotliCompressSync(body));
}
