/**
 * A wrapper of localStorage or sessionStorage. When storage is unavailable (in private
 * windows), reads return null and writes do nothing.
 */
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
        // Full or forbidden. The page works without it.
      }
    },
  };
}

/** Kept by this browser. */
export const browserStorage = guarded(() => localStorage);

/** Kept by this tab, also when it is reloaded or reopened. */
export const tabStorage = guarded(() => sessionStorage);
