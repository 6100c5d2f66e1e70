import { tabStorage } from '../../state/storage';
import { Store } from '../../state/store';

const storageKey = 'parley.volumes';
/** The oldest entries beyond this are dropped. */
const maxEntries = 50;

/**
 * The volumes below 1 that the visitor has set, by identity or, for the sound of a screen,
 * by `screenKey`. They apply to this visitor only.
 */
export const volumes = new Store<ReadonlyMap<string, number>>(parseVolumes(tabStorage.get(storageKey)));

export function setVolume(key: string, volume: number): void {
  const changed = new Map(volumes.get());
  changed.delete(key);
  if (volume < 1) changed.set(key, volume);
  const newest = new Map([...changed].slice(-maxEntries));
  tabStorage.set(storageKey, JSON.stringify([...newest]));
  volumes.set(newest);
}

/** Parses the stored volumes. Invalid entries are ignored. */
export function parseVolumes(json: string | null): ReadonlyMap<string, number> {
  try {
    const parsed: unknown = JSON.parse(json ?? '[]');
    return new Map(Array.isArray(parsed) ? parsed.filter(isVolume) : []);
  } catch {
    return new Map();
  }
}

function isVolume(value: unknown): value is [string, number] {
  return Array.isArray(value) && typeof value[0] === 'string' && typeof value[1] === 'number' && value[1] >= 0 && value[1] < 1;
}
