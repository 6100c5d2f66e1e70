import { useSyncExternalStore } from 'react';

function subscribe(onChange: () => void): () => void {
  document.addEventListener('visibilitychange', onChange);
  return () => document.removeEventListener('visibilitychange', onChange);
}

/** Returns whether the page is in the background. */
export const useHidden = (): boolean => useSyncExternalStore(subscribe, () => document.hidden);
