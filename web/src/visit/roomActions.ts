import type {
  Breakouts,
  Invitation,
  InvitationRequest,
  JoinApi,
  LockRequest,
  People,
  ReactRequest,
  Result,
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

  async end(): Promise<Result<null>> {
    const result = await this.#callWithRetry((seat_key) => this.#api.end({ seat_key }));
    if (result.is === 'ok') this.#on.ended();
    return result;
  }

  /** `assign` maps identities to indices of `names`. */
  async openBreakouts(names: string[], assign: Record<string, number>): Promise<Result<Breakouts>> {
    return this.#callWithRetry((seat_key) => this.#api.openBreakouts({ seat_key, names, assign }));
  }

  async people(): Promise<Result<People>> {
    return this.#api.people({ seat_key: await this.#seatKey });
  }

  async closeBreakouts(): Promise<Result<null>> {
    return this.#callWithRetry((seat_key) => this.#api.closeBreakouts({ seat_key }));
  }

  /** Not retried, because some may have read it already. */
  async broadcast(text: string): Promise<Result<null>> {
    return this.#api.broadcast({ seat_key: await this.#seatKey, text });
  }

  async move(identity: string, to: number): Promise<Result<null>> {
    return this.#callWithRetry((seat_key) => this.#api.move({ seat_key, identity, to }));
  }

  async moveSelf(to: number): Promise<Result<null>> {
    const result = await this.#callWithRetry((seat_key) => this.#api.move({ seat_key, to }));
    // The server sends a message, too, but this is faster.
    if (result.is === 'ok') this.#on.moved();
    return result;
  }

  async mute(identity: string): Promise<Result<null>> {
    return this.#callWithRetry((seat_key) => this.#api.mute({ seat_key, identity }));
  }

  async muteGuests(): Promise<Result<null>> {
    return this.#callWithRetry((seat_key) => this.#api.mute({ seat_key }));
  }

  /** Not retried, because the person may have been asked already. */
  async askToUnmute(identity: string): Promise<Result<null>> {
    return this.#api.askToUnmute({ seat_key: await this.#seatKey, identity });
  }

  async remove(identity: string): Promise<Result<null>> {
    return this.#callWithRetry((seat_key) => this.#api.remove({ seat_key, identity }));
  }

  async readmit(identity: string): Promise<Result<null>> {
    return this.#callWithRetry((seat_key) => this.#api.readmit({ seat_key, identity }));
  }

  async updateLocks(locks: LockRequest['locks']): Promise<Result<null>> {
    return this.#callWithRetry((seat_key) => this.#api.updateLocks({ seat_key, locks }));
  }

  async setRole(identity: string, role: RoleRequest['role']): Promise<Result<null>> {
    return this.#callWithRetry((seat_key) => this.#api.setRole({ seat_key, identity, role }));
  }

  /** One waiting person, or all of them. */
  async admit(identity?: string): Promise<Result<null>> {
    return this.#callWithRetry((seat_key) => this.#api.admit({ seat_key, ...(identity !== undefined && { identity }) }));
  }

  async deny(identity: string): Promise<Result<null>> {
    return this.#callWithRetry((seat_key) => this.#api.deny({ seat_key, identity }));
  }

  async createInvitation(role: InvitationRequest['role']): Promise<Result<Invitation>> {
    return this.#callWithRetry((seat_key) => this.#api.createInvitation({ seat_key, role }));
  }

  async raiseHand(): Promise<Result<null>> {
    return this.#callWithRetry((seat_key) => this.#api.raiseHand({ seat_key }));
  }

  /** The visitor's own hand or, for hosts, somebody else's. */
  async lowerHand(identity?: string): Promise<Result<null>> {
    return this.#callWithRetry((seat_key) => this.#api.lowerHand({ seat_key, ...(identity !== undefined && { identity }) }));
  }

  async lowerHands(): Promise<Result<null>> {
    return this.#callWithRetry((seat_key) => this.#api.lowerHands({ seat_key }));
  }

  /** Not retried, because it would be late and some may have seen it. */
  async react(reaction: ReactRequest['reaction']): Promise<Result<null>> {
    return this.#api.react({ seat_key: await this.#seatKey, reaction });
  }

  async #callWithRetry<T>(call: (seatKey: string) => Promise<Result<T>>): Promise<Result<T>> {
    const seatKey = await this.#seatKey;
    for (let retries = 0; ; retries++) {
      const result = await call(seatKey);
      if (result.is !== 'unreachable' || result.waitMs === 0 || result.waitMs > maxRetryDelayMs || retries === maxRetries) return result;
      await new Promise((done) => setTimeout(done, result.waitMs));
    }
  }
}
