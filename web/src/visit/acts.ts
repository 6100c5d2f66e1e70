import type { Answer, Breakouts, JoinApi } from '../api/client';

/** What somebody in the room asks of the server; their seat says who they are. */
export class Acts {
  readonly #api: JoinApi;
  readonly #seatKey: Promise<string>;
  readonly #moved: () => void;

  /** `moved` is called when the visitor's own seat is elsewhere. */
  constructor(api: JoinApi, seatKey: Promise<string>, moved: () => void) {
    this.#api = api;
    this.#seatKey = seatKey;
    this.#moved = moved;
  }

  async end(): Promise<Answer<null>> {
    return this.#api.end({ seat_key: await this.#seatKey });
  }

  /** `assign` says by identity whose room is which of the names. */
  async openBreakouts(names: string[], assign: Record<string, number>): Promise<Answer<Breakouts>> {
    return this.#api.openBreakouts({ seat_key: await this.#seatKey, names, assign });
  }

  async closeBreakouts(): Promise<Answer<null>> {
    return this.#api.closeBreakouts({ seat_key: await this.#seatKey });
  }

  async broadcast(text: string): Promise<Answer<null>> {
    return this.#api.broadcast({ seat_key: await this.#seatKey, text });
  }

  async move(identity: string, to: number): Promise<Answer<null>> {
    return this.#api.move({ seat_key: await this.#seatKey, identity, to });
  }

  async go(to: number): Promise<Answer<null>> {
    const answer = await this.#api.move({ seat_key: await this.#seatKey, to });
    // The server also says so, but this page knows already.
    if (answer.is === 'ok') this.#moved();
    return answer;
  }
}
