import { browserStorage } from './storage';
import { Store } from './store';

/** A choice between yes and no that this browser remembers. */
export class Preference extends Store<boolean> {
  readonly #key: string;

  /** `usual` is what holds until somebody chooses. */
  constructor(key: string, defaultValue: boolean) {
    const stored = browserStorage.get(key);
    super(stored === null ? defaultValue : stored === 'on');
    this.#key = key;
  }

  save(on: boolean): void {
    browserStorage.set(this.#key, on ? 'on' : 'off');
    this.set(on);
  }
}
