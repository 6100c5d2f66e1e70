import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import type { Plugin } from 'vite';

const textFile = /\.(?:html|js|css|svg|json|yaml|txt|md|webmanifest)$/;
export const minCompressBytes = 1024;

/**
 * Writes name.br and name.gz next to every text file of at least 1 kB, so that the server
 * never has to compress.
 */
export function compress(): Plugin {
  let root = '';
  return {
    name: 'compress',
    apply: 'build',
    configResolved(config) {
      root = resolve(config.root, config.build.outDir);
    },
    // Unlike closeBundle, it does not run after an error, which it would hide.
    writeBundle() {
      for (const entry of readdirSync(root, { recursive: true, withFileTypes: true })) {
        // Folders that start with a dot hold files of the build itself, which are never served.
        if (!entry.isFile() || !textFile.test(entry.name) || /\/\.[^/]*$/.test(entry.parentPath)) continue;
        const path = join(entry.parentPath, entry.name);
        const body = readFileSync(path);
        if (body.length < minCompressBytes) continue;
        writeFileSync(`${path}.gz`, gzipSync(body, { level: 9 }));
        writeFileSync(
          `${path}.br`,
          brotliCompressSync(body, {
            params: {
              [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY,
              [constants.BROTLI_PARAM_SIZE_HINT]: body.length,
            },
          }),
        );
      }
    },
  };
}
