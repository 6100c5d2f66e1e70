import { browserMemory } from './memory';
import { Store } from './store';

/** A choice between yes and no that this browser remembers. */
export class Choice extends Store<boolean> {
  readonly #key: string;

  /** `usual` is what holds until somebody chooses. */
  constructor(key: string, usual: boolean) {
    const said = browserMemory.get(key);
    super(said === null ? usual : said === 'on');
    this.#key = key;
  }

  choose(on: boolean): void {
    browserMemory.set(this.#key, on ? 'on' : 'off');
    this.set(on);
  }
}
