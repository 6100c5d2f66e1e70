import type { Plugin } from 'vite';

/** The line in which loglevel, which is bundled in LiveKit's client, decides whether to store levels. */
const storageCheck = 'if (typeof window === undefinedType || !storageKey) return;';

/**
 * Keeps loglevel from reading and writing its levels in localStorage and cookies, because
 * the page sets the levels itself. When a page reads a cookie, the browser records the
 * source line and parses the whole file again for it, while the visitor waits to join.
 */
export function disableLoglevelStorage(): Plugin {
  return {
    name: 'levels',
    apply: 'build',
    transform: {
      filter: { id: /\/node_modules\/livekit-client\// },
      handler(code) {
        if (!code.includes(storageCheck)) throw new Error('livekit-client no longer has the loglevel that build/loglevelStorage.ts knows');
        return { code: code.replaceAll(storageCheck, 'return;'), map: null };
      },
    },
  };
}
