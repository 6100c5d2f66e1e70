import { Store } from '../../state/store';

/**
 * The visitor's pins, in the order of pinning: people by identity, screens by `screenKey`.
 * Identities are never reused, so that a pin lasts while its person reconnects.
 */
export const pins = new Store<readonly string[]>([]);

export function togglePin(key: string): void {
  const pinned = pins.get();
  pins.set(pinned.includes(key) ? pinned.filter((other) => other !== key) : [...pinned, key]);
}

/** Returns the key of a person's screen. */
export const screenKey = (identity: string): string => `${identity}/screen`;
