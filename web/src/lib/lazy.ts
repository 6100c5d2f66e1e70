import { Store } from './store';

/** A part of the page that is loaded when it is wanted, and kept. */
export class Lazy<T> {
  readonly loaded = new Store<T | null>(null);
  readonly #load: () => Promise<T>;
  #loading: Promise<T> | null = null;

  constructor(load: () => Promise<T>) {
    this.#load = load;
  }

  /** Loads it once. After a failure it may be asked for again. */
  readonly get = (): Promise<T> => {
    this.#loading ??= this.#load().then(
      (part) => {
        this.loaded.set(part);
        return part;
      },
      (error: unknown) => {
        this.#loading = null;
        throw error;
      },
    );
    return this.#loading;
  };

  /** Loads it ahead. Not now is no harm: whoever wants it asks again, and says so if that fails. */
  readonly prefetch = (): Promise<void> =>
    this.get().then(
      () => undefined,
      () => undefined,
    );
}
