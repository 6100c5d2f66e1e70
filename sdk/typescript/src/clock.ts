import { parseHttpDate } from './httpDate.js';
import { requestId } from './response.js';

/** Estimates the time of the server from its responses. */
export class Clock {
  #offset = 0;

  /** How many milliseconds the clock of the server is ahead of ours; 0 before the first response. */
  get offset(): number {
    return this.#offset;
  }

  /**
   * Updates the offset from the Date of a response. `sent` and `received` are times of our clock in milliseconds. A
   * Date is truncated to the second and was written between the two, so it only bounds the offset. An offset within
   * the bounds is kept, so that it does not fluctuate.
   */
  observe(sent: number, received: number, headers: Headers): void {
    const date = parseHttpDate(headers.get('date') ?? '');
    // A response without an ID is from a proxy, and one with an Age is from a cache.
    if (date === null || requestId(headers) === '' || headers.has('age')) return;
    const lower = date - received;
    const upper = date + 1000 - sent;
    if (this.#offset < lower || this.#offset > upper) this.#offset = lower + (upper - lower) / 2;
  }
}
