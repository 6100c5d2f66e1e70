/** A request for something that a visitor may withdraw. */
export interface PendingRequest {
  /** Whether the result is still wanted. */
  isWanted: () => boolean;
  /** Ends the request. Returns whether its result is still wanted, once. */
  end: () => boolean;
}

/**
 * Tells whether the result of a request is still wanted. A permission prompt can stay open until
 * the visitor has left, or has made a newer request.
 */
export class LatestRequest {
  #id = 0;
  #pending = 0;

  /** Whether the latest request has no result yet. */
  get isPending(): boolean {
    return this.#pending === this.#id && this.#id > 0;
  }

  /** Begins a request, which replaces the one before. */
  begin(): PendingRequest {
    const id = ++this.#id;
    this.#pending = id;
    const isWanted = (): boolean => this.#id === id;
    const end = (): boolean => {
      if (!isWanted()) return false;
      this.#pending = 0;
      return true;
    };
    return { isWanted, end };
  }

  /** The result of the request before is no longer wanted. */
  cancel(): void {
    this.#id++;
  }
}
