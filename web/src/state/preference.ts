import { browserStorage } from './storage';
import { Store } from './store';

/** A setting (yes or no) that this browser remembers. */
export class Preference extends Store<boolean> {
  readonly #key: string;

  /** `defaultValue` applies until the visitor changes the setting. */
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
