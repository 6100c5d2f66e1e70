/** The server's time. The viewer's own clock may be wrong, so every answer that says the time sets it. */
export class ServerClock {
  readonly #local: () => number;
  #ahead = 0;

  constructor(local: () => number = Date.now) {
    this.#local = local;
  }

  /** An answer that was asked for and received then, by the local clock, says what time it was in between. */
  set(serverTime: string, asked: number, received: number): void {
    const then = Date.parse(serverTime);
    if (Number.isFinite(then)) this.#ahead = then - (asked + received) / 2;
  }

  readonly now = (): number => this.#local() + this.#ahead;
}
