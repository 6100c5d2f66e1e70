import { Store } from '../../lib/store';

/**
 * What the visitor has pinned, in the order of pinning: people by their
 * identity, screens by that of who shares them. Identities are never given
 * twice, so a pin holds while its person comes back and for nobody else.
 */
export const pins = new Store<readonly string[]>([]);

export function togglePin(key: string): void {
  const pinned = pins.get();
  pins.set(pinned.includes(key) ? pinned.filter((other) => other !== key) : [...pinned, key]);
}

/** The key of a screen, beside that of who shares it. */
export const screenKey = (identity: string): string => `${identity}/screen`;
