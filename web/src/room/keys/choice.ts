import { browserMemory } from '../../lib/memory';
import { Store } from '../../lib/store';

const memory = 'parley.keys';

/** Whether single keys do something. Who speaks to their computer, or whose hands shake, turns them off. */
export const keysOn = new Store(browserMemory.get(memory) !== 'off');

export function setKeysOn(on: boolean): void {
  browserMemory.set(memory, on ? 'on' : 'off');
  keysOn.set(on);
}
