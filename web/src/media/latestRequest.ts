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

  /** Begins a request, which replaces the one before. The function returns whether its result is still wanted, once. */
  begin(): () => boolean {
    const id = ++this.#id;
    this.#pending = id;
    return () => {
      if (this.#id !== id) return false;
      this.#pending = 0;
      return true;
    };
  }

  /** The result of the request before is no longer wanted. */
  cancel(): void {
    this.#id++;
  }
}
