import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Plugin } from 'vite';

interface Lock {
  packages: Record<string, { version: string; dev?: boolean }>;
}

/**
 * Adds a list of the npm packages of all pages, without those that only build them. The program contains the list, and
 * release/sbom.go finds it there by its key.
 */
export function packageList(): Plugin {
  return {
    name: 'package list',
    apply: 'build',
    generateBundle() {
      const lock = JSON.parse(readFileSync(resolve(import.meta.dirname, '../package-lock.json'), 'utf8')) as Lock;
      const folder = 'node_modules/';
      const packages = Object.entries(lock.packages)
        .filter(([path, { dev }]) => path.includes(folder) && !dev)
        .map(([path, { version }]) => ({ name: path.slice(path.lastIndexOf(folder) + folder.length), version }));
      this.emitFile({
        type: 'asset',
        // The server does not serve this folder.
        fileName: '.vite/packages.json',
        source: JSON.stringify({ parleyPagePackages: packages }),
      });
    },
  };
}
