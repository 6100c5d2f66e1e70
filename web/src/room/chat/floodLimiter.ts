const maxMessages = 20;
const windowMs = 10_000;

/**
 * Limits how many messages of one sender are shown, so that a sender cannot push the
 * messages of others out of the log. The server decides who may write at all.
 */
export class FloodLimiter {
  readonly #sent = new Map<string, number[]>();

  /** Whether one more message now exceeds the limit. */
  exceedsLimit(identity: string, now: number): boolean {
    const recent = (this.#sent.get(identity) ?? []).filter((at) => now - at < windowMs);
    const exceeded = recent.length >= maxMessages;
    if (!exceeded) recent.push(now);
    this.#sent.set(identity, recent);
    return exceeded;
  }
}
