const maxMessages = 20;
const windowMs = 10_000;

/**
 * Holds each sender to a number of messages that people can write. The server
 * decides who may write at all; a page that sends without end must not push
 * away what others wrote.
 */
export class FloodLimiter {
  readonly #sent = new Map<string, number[]>();

  /** Whether one more of them at that moment is too much. */
  exceedsLimit(identity: string, now: number): boolean {
    const recent = (this.#sent.get(identity) ?? []).filter((at) => now - at < windowMs);
    const exceeded = recent.length >= maxMessages;
    if (!exceeded) recent.push(now);
    this.#sent.set(identity, recent);
    return exceeded;
  }
}
