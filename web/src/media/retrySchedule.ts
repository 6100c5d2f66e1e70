/** Milliseconds before the next automatic request, by the number of failures in a row. */
const pausesMs = [2_000, 5_000, 10_000, 20_000, 30_000];

/** However often a device comes and goes, no more automatic requests than this are made in the window (in milliseconds). */
const maxRequests = 5;
const windowMs = 10_000;

/** A device that has run for this long (in milliseconds) works, so that its next failure is the first one. */
const provenMs = 10_000;

/**
 * Decides when a device may be requested again without the visitor, after it failed or ended.
 * All times are milliseconds of the same clock.
 */
export class RetrySchedule {
  #requests: number[] = [];
  #failures = 0;
  #dueAt = -Infinity;
  #openedAt = -Infinity;

  /** The number of failures in a row. */
  get failures(): number {
    return this.#failures;
  }

  /** Returns the milliseconds until the next automatic request, 0 for now. */
  delay(now: number): number {
    const [oldest = -Infinity] = this.#requests.length < maxRequests ? [] : this.#requests;
    return Math.max(0, this.#dueAt - now, oldest + windowMs - now);
  }

  /** Counts an automatic request. */
  requested(now: number): void {
    this.#requests = [...this.#requests, now].slice(-maxRequests);
  }

  opened(now: number): void {
    this.#openedAt = now;
  }

  failed(now: number): void {
    this.#dueAt = now + (pausesMs[Math.min(this.#failures, pausesMs.length - 1)] ?? 0);
    this.#failures++;
  }

  /** The device that was opened has ended or was interrupted by itself. If it has worked, the next request comes after the pause. */
  ended(now: number, pauseMs = 0): void {
    if (now - this.#openedAt >= provenMs) this.restart(now, pauseMs);
    else this.failed(now);
  }

  /** Forgets the failures, because something has changed. The next request comes after the pause. */
  restart(now: number, pauseMs = 0): void {
    this.#failures = 0;
    this.#dueAt = now + pauseMs;
  }
}
