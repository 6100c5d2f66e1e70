import type { KeyValueStorage } from '../state/storage';
import type { Visit } from './state';

/** When this tab entered a room that it did not leave, so that a reloaded page offers to rejoin. */
export class Stay {
  readonly #storage: KeyValueStorage;
  readonly #key: string;

  constructor(storage: KeyValueStorage, roomId: string) {
    this.#storage = storage;
    this.#key = `parley.stay.${roomId}`;
  }

  /** Returns the time of the first entry; null when the tab was not in the room before it was loaded. */
  joinedAt(): number | null {
    const stored = Number(this.#storage.get(this.#key));
    return stored > 0 ? stored : null;
  }

  onVisit(visit: Visit): void {
    if (visit.at === 'room') this.#store(String(visit.joinedAt));
    else if (visit.at === 'removed' || visit.at === 'refused' || visit.at === 'left') this.#store('');
  }

  #store(text: string): void {
    if ((this.#storage.get(this.#key) ?? '') !== text) this.#storage.set(this.#key, text);
  }
}
