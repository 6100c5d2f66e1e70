import { tabMemory } from '../../lib/memory';
import { Store } from '../../lib/store';

const memory = 'parley.volumes';
/** Nobody turns down more people than this; those of rooms before go first. */
const most = 50;

/**
 * How loud somebody is here, from 0 to 1, for those who are not as loud as
 * they come: people by their identity, the sound of a screen by `screenOf` it.
 * For this visitor alone; nobody is told.
 */
export const volumes = new Store<ReadonlyMap<string, number>>(read(tabMemory.get(memory)));

export function setVolume(key: string, volume: number): void {
  const changed = new Map(volumes.get());
  changed.delete(key);
  if (volume < 1) changed.set(key, volume);
  const kept = new Map([...changed].slice(-most));
  tabMemory.set(memory, JSON.stringify([...kept]));
  volumes.set(kept);
}

/** What was written before; what cannot be read was not. */
export function read(json: string | null): ReadonlyMap<string, number> {
  try {
    const said: unknown = JSON.parse(json ?? '[]');
    return new Map(Array.isArray(said) ? said.filter(isVolume) : []);
  } catch {
    return new Map();
  }
}

function isVolume(said: unknown): said is [string, number] {
  return Array.isArray(said) && typeof said[0] === 'string' && typeof said[1] === 'number' && said[1] >= 0 && said[1] < 1;
}
