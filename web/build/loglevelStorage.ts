import type { Plugin } from 'vite';

/** Where loglevel, which comes within LiveKit's client, asks whether it may keep levels. */
const storageCheck = 'if (typeof window === undefinedType || !storageKey) return;';

/**
 * Keeps loglevel from looking for its levels in the page's store and cookies,
 * and from leaving them there: the page sets them itself. For whoever reads a
 * cookie the browser notes the lines of code that do, and parses their whole
 * file anew for that, while somebody waits to come in.
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
