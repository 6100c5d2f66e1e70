/** What the page remembers. Storage can be missing or refuse (private windows): then nothing is remembered. */
export interface KeyValueStorage {
  get(key: string): string | null;
  set(key: string, value: string): void;
}

function guarded(storage: () => Storage): KeyValueStorage {
  return {
    get(key) {
      try {
        return storage().getItem(key);
      } catch {
        return null;
      }
    },
    set(key, value) {
      try {
        storage().setItem(key, value);
      } catch {
        // Full or forbidden: the page works without.
      }
    },
  };
}

/** Remembered by this browser. */
export const browserStorage = guarded(() => localStorage);

/** Remembered by this tab, over reloads and when it is reopened. */
export const tabStorage = guarded(() => sessionStorage);
