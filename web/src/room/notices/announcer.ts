const minMs = 1_500;
/** A screen reader at its usual speed takes about this long for a character. */
const msPerCharacter = 60;

/**
 * Shows texts in a live region one after the other, because a screen reader stops reading a text
 * that is replaced. What happens while one is read is collected into the next.
 */
export class Announcer {
  readonly #collect: () => string;
  readonly #show: (text: string) => void;
  readonly #batchMs: number;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #again = false;

  /**
   * `collect` returns the text about everything that happened since it was called last; empty for nothing.
   * What happens within `batchMs` is announced together.
   */
  constructor(collect: () => string, show: (text: string) => void, batchMs = 0) {
    this.#collect = collect;
    this.#show = show;
    this.#batchMs = batchMs;
  }

  /** Something may have happened. */
  readonly update = (): void => {
    if (this.#timer !== undefined) return;
    if (this.#batchMs > 0) this.#timer = setTimeout(this.#showNext, this.#batchMs);
    else this.#showNext();
  };

  stop(): void {
    clearTimeout(this.#timer);
  }

  readonly #showNext = (): void => {
    this.#timer = undefined;
    const text = this.#collect();
    if (text === '') return;
    this.#again = !this.#again;
    // The same text twice would be no change, so that it would not be read.
    this.#show(this.#again ? text : `${text}\u00A0`);
    this.#timer = setTimeout(this.#showNext, Math.max(minMs, text.length * msPerCharacter, this.#batchMs));
  };
}
