/** A wrapper of localStorage or sessionStorage. */
export interface KeyValueStorage {
  get(key: string): string | null;
  set(key: string, value: string): void;
}

/**
 * Uses the state of the history entry while the storage is unavailable (cookies are blocked, or a
 * frame may not store anything). It survives a reload of the page, so that the visitor keeps their
 * seat and role, but not a reload of the page around a frame.
 */
function guarded(storage: () => Storage): KeyValueStorage {
  return {
    get(key) {
      try {
        return storage().getItem(key);
      } catch {
        return readHistory()[key] ?? null;
      }
    },
    set(key, value) {
      try {
        storage().setItem(key, value);
      } catch {
        // Full or forbidden.
        writeHistory({ ...readHistory(), [key]: value });
      }
    },
  };
}

// Unit tests have no history.
const entries: History | undefined = globalThis.history;

function readHistory(): Record<string, string> {
  return (entries?.state as { stored?: Record<string, string> } | null | undefined)?.stored ?? {};
}

function writeHistory(stored: Record<string, string>): void {
  try {
    entries?.replaceState({ ...(entries.state as object | null), stored }, '');
  } catch {
    // The page works without it.
  }
}

/** Whether nothing is stored when the page around this frame is loaded again. */
export function isForgetful(): boolean {
  if (window.top === window) return false;
  try {
    localStorage.setItem('parley.test', '');
    localStorage.removeItem('parley.test');
    return false;
  } catch {
    return true;
  }
}

/** Kept by this browser. */
export const browserStorage = guarded(() => localStorage);

/** Kept by this tab, also when it is reloaded or reopened. */
export const tabStorage = guarded(() => sessionStorage);
