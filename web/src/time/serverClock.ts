/** The server's time. The clock of the device may be wrong, so that every response with a time adjusts it. */
export class ServerClock {
  readonly #localNow: () => number;
  #offsetMs = 0;

  constructor(localNow: () => number = Date.now) {
    this.#localNow = localNow;
  }

  /** Adjusts to a server time that lies between these two local times. */
  sync(serverTime: string, sentAt: number, receivedAt: number): void {
    const serverMs = Date.parse(serverTime);
    if (Number.isFinite(serverMs)) this.#offsetMs = serverMs - (sentAt + receivedAt) / 2;
  }

  readonly now = (): number => this.#localNow() + this.#offsetMs;
}
