/** The server's time. The viewer's own clock may be wrong, so every answer that says the time sets it. */
export class ServerClock {
  readonly #localNow: () => number;
  #offsetMs = 0;

  constructor(localNow: () => number = Date.now) {
    this.#localNow = localNow;
  }

  /** An answer that was asked for and received then, by the local clock, says what time it was in between. */
  sync(serverTime: string, sentAt: number, receivedAt: number): void {
    const serverMs = Date.parse(serverTime);
    if (Number.isFinite(serverMs)) this.#offsetMs = serverMs - (sentAt + receivedAt) / 2;
  }

  readonly now = (): number => this.#localNow() + this.#offsetMs;
}
