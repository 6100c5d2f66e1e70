const most = 20;
const within = 10_000;

/**
 * Holds each sender to a number of messages that people can write. The server
 * decides who may write at all; a page that sends without end must not push
 * away what others wrote.
 */
export class Flood {
  readonly #sent = new Map<string, number[]>();

  /** Whether one more of them at that moment is too much. */
  isTooMuch(identity: string, now: number): boolean {
    const recent = (this.#sent.get(identity) ?? []).filter((at) => now - at < within);
    const over = recent.length >= most;
    if (!over) recent.push(now);
    this.#sent.set(identity, recent);
    return over;
  }
}
