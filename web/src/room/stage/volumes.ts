import { tabStorage } from '../../lib/storage';
import { Store } from '../../lib/store';

const storageKey = 'parley.volumes';
/** Nobody turns down more people than this; those of rooms before go first. */
const maxEntries = 50;

/**
 * How loud somebody is here, from 0 to 1, for those who are not as loud as
 * they come: people by their identity, the sound of a screen by `screenOf` it.
 * For this visitor alone; nobody is told.
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

/** What was written before; what cannot be read was not. */
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
