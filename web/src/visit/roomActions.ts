import type {
  Answer,
  Breakouts,
  Invitation,
  InvitationRequest,
  JoinApi,
  LockRequest,
  People,
  ReactRequest,
  RoleRequest,
} from '../api/client';

/** How often an action is retried when the server names a time, and the longest time that is waited for. */
const maxRetries = 4;
const maxRetryDelayMs = 3_000;

export interface ActionEvents {
  /** The visitor has moved to another room. */
  moved: () => void;
  /** The visitor has ended the room for everybody. */
  ended: () => void;
}

/**
 * The actions of a visitor in the room, who is identified by the seat key. A server that
 * is temporarily unavailable has done nothing, so that the action is retried after the
 * time it names.
 */
export class RoomActions {
  readonly #api: JoinApi;
  readonly #seatKey: Promise<string>;
  readonly #on: ActionEvents;

  constructor(api: JoinApi, seatKey: Promise<string>, on: ActionEvents) {
    this.#api = api;
    this.#seatKey = seatKey;
    this.#on = on;
  }

  async end(): Promise<Answer<null>> {
    const answer = await this.#callWithRetry((seat_key) => this.#api.end({ seat_key }));
    if (answer.is === 'ok') this.#on.ended();
    return answer;
  }

  /** `assign` maps identities to indices of `names`. */
  async openBreakouts(names: string[], assign: Record<string, number>): Promise<Answer<Breakouts>> {
    return this.#callWithRetry((seat_key) => this.#api.openBreakouts({ seat_key, names, assign }));
  }

  async people(): Promise<Answer<People>> {
    return this.#api.people({ seat_key: await this.#seatKey });
  }

  async closeBreakouts(): Promise<Answer<null>> {
    return this.#callWithRetry((seat_key) => this.#api.closeBreakouts({ seat_key }));
  }

  /** Not retried, because some may have read it already. */
  async broadcast(text: string): Promise<Answer<null>> {
    return this.#api.broadcast({ seat_key: await this.#seatKey, text });
  }

  async move(identity: string, to: number): Promise<Answer<null>> {
    return this.#callWithRetry((seat_key) => this.#api.move({ seat_key, identity, to }));
  }

  async moveSelf(to: number): Promise<Answer<null>> {
    const answer = await this.#callWithRetry((seat_key) => this.#api.move({ seat_key, to }));
    // The server sends a message, too, but this is faster.
    if (answer.is === 'ok') this.#on.moved();
    return answer;
  }

  async mute(identity: string): Promise<Answer<null>> {
    return this.#callWithRetry((seat_key) => this.#api.mute({ seat_key, identity }));
  }

  async muteGuests(): Promise<Answer<null>> {
    return this.#callWithRetry((seat_key) => this.#api.mute({ seat_key }));
  }

  /** Not retried, because the person may have been asked already. */
  async askToUnmute(identity: string): Promise<Answer<null>> {
    return this.#api.askToUnmute({ seat_key: await this.#seatKey, identity });
  }

  async remove(identity: string): Promise<Answer<null>> {
    return this.#callWithRetry((seat_key) => this.#api.remove({ seat_key, identity }));
  }

  async readmit(identity: string): Promise<Answer<null>> {
    return this.#callWithRetry((seat_key) => this.#api.readmit({ seat_key, identity }));
  }

  async updateLocks(locks: LockRequest['locks']): Promise<Answer<null>> {
    return this.#callWithRetry((seat_key) => this.#api.updateLocks({ seat_key, locks }));
  }

  async setRole(identity: string, role: RoleRequest['role']): Promise<Answer<null>> {
    return this.#callWithRetry((seat_key) => this.#api.setRole({ seat_key, identity, role }));
  }

  /** One waiting person, or all of them. */
  async admit(identity?: string): Promise<Answer<null>> {
    return this.#callWithRetry((seat_key) => this.#api.admit({ seat_key, ...(identity !== undefined && { identity }) }));
  }

  async deny(identity: string): Promise<Answer<null>> {
    return this.#callWithRetry((seat_key) => this.#api.deny({ seat_key, identity }));
  }

  async createInvitation(role: InvitationRequest['role']): Promise<Answer<Invitation>> {
    return this.#callWithRetry((seat_key) => this.#api.createInvitation({ seat_key, role }));
  }

  async raiseHand(): Promise<Answer<null>> {
    return this.#callWithRetry((seat_key) => this.#api.raiseHand({ seat_key }));
  }

  /** The visitor's own hand or, for hosts, somebody else's. */
  async lowerHand(identity?: string): Promise<Answer<null>> {
    return this.#callWithRetry((seat_key) => this.#api.lowerHand({ seat_key, ...(identity !== undefined && { identity }) }));
  }

  async lowerHands(): Promise<Answer<null>> {
    return this.#callWithRetry((seat_key) => this.#api.lowerHands({ seat_key }));
  }

  /** Not retried, because it would be late and some may have seen it. */
  async react(reaction: ReactRequest['reaction']): Promise<Answer<null>> {
    return this.#api.react({ seat_key: await this.#seatKey, reaction });
  }

  async #callWithRetry<T>(call: (seatKey: string) => Promise<Answer<T>>): Promise<Answer<T>> {
    const seatKey = await this.#seatKey;
    for (let retries = 0; ; retries++) {
      const answer = await call(seatKey);
      if (answer.is !== 'unreachable' || answer.waitMs === 0 || answer.waitMs > maxRetryDelayMs || retries === maxRetries) return answer;
      await new Promise((done) => setTimeout(done, answer.waitMs));
    }
  }
}
