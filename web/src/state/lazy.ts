import { Store } from './store';

/** A part of the page that is loaded on demand and then kept. */
export class Lazy<T> {
  readonly loaded = new Store<T | null>(null);
  readonly #load: () => Promise<T>;
  #loading: Promise<T> | null = null;

  constructor(load: () => Promise<T>) {
    this.#load = load;
  }

  /** Loads the part once. After a failure it can be called again. */
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

  /** Loads the part in advance. A failure is ignored, because the next get() tries again and reports it. */
  readonly prefetch = (): Promise<void> =>
    this.get().then(
      () => undefined,
      () => undefined,
    );
}
