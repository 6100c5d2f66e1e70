import type { Body, Call, JoinApi, Result, Value } from '../api/client';

/** How often an action is retried when the server names a time, and the longest time that is waited for. */
const maxRetries = 4;
const maxRetryDelayMs = 3_000;

/** The fields of a request except the seat key. */
type Fields<C extends Call> = Omit<Body<C>, 'seat_key'>;

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
    const result = await this.#callWithRetry('end', {});
    if (result.is === 'ok') this.#on.ended();
    return result;
  }

  /** `assign` maps identities to indices of `names`. */
  async openBreakouts(names: string[], assign: Record<string, number>): Promise<Result<Value<'breakouts'>>> {
    return this.#callWithRetry('breakouts', { names, assign });
  }

  async people(): Promise<Result<Value<'people'>>> {
    return this.#call('people', {});
  }

  async closeBreakouts(): Promise<Result<null>> {
    return this.#callWithRetry('breakouts/close', {});
  }

  /** Not retried, because some may have read it already. */
  async broadcast(text: string): Promise<Result<null>> {
    return this.#call('broadcast', { text });
  }

  async move(identity: string, to: number): Promise<Result<null>> {
    return this.#callWithRetry('move', { identity, to });
  }

  async moveSelf(to: number): Promise<Result<null>> {
    const result = await this.#callWithRetry('move', { to });
    // The server sends a message, too, but this is faster.
    if (result.is === 'ok') this.#on.moved();
    return result;
  }

  async mute(identity: string): Promise<Result<null>> {
    return this.#callWithRetry('mute', { identity });
  }

  async muteGuests(): Promise<Result<null>> {
    return this.#callWithRetry('mute', {});
  }

  /** Not retried, because the person may have been asked already. */
  async askToUnmute(identity: string): Promise<Result<null>> {
    return this.#call('unmute', { identity });
  }

  async remove(identity: string): Promise<Result<null>> {
    return this.#callWithRetry('remove', { identity });
  }

  async readmit(identity: string): Promise<Result<null>> {
    return this.#callWithRetry('readmit', { identity });
  }

  async updateLocks(locks: Body<'locks'>['locks']): Promise<Result<null>> {
    return this.#callWithRetry('locks', { locks });
  }

  async setRole(identity: string, role: Body<'role'>['role']): Promise<Result<null>> {
    return this.#callWithRetry('role', { identity, role });
  }

  /** One waiting person, or all of them. */
  async admit(identity?: string): Promise<Result<null>> {
    return this.#callWithRetry('waiting/admit', { ...(identity !== undefined && { identity }) });
  }

  async deny(identity: string): Promise<Result<null>> {
    return this.#callWithRetry('waiting/turn-away', { identity });
  }

  async createInvitation(role: Body<'invitations'>['role']): Promise<Result<Value<'invitations'>>> {
    return this.#callWithRetry('invitations', { role });
  }

  async raiseHand(): Promise<Result<null>> {
    return this.#callWithRetry('hand/raise', {});
  }

  /** The visitor's own hand or, for hosts, somebody else's. */
  async lowerHand(identity?: string): Promise<Result<null>> {
    return this.#callWithRetry('hand/lower', { ...(identity !== undefined && { identity }) });
  }

  async lowerHands(): Promise<Result<null>> {
    return this.#callWithRetry('hands/lower', {});
  }

  /** Not retried, because it would be late and some may have seen it. */
  async react(reaction: Body<'react'>['reaction']): Promise<Result<null>> {
    return this.#call('react', { reaction });
  }

  async #call<C extends Call>(call: C, fields: Fields<C>): Promise<Result<Value<C>>> {
    return this.#api.call(call, { ...fields, seat_key: await this.#seatKey } as Body<C>);
  }

  async #callWithRetry<C extends Call>(call: C, fields: Fields<C>): Promise<Result<Value<C>>> {
    for (let retries = 0; ; retries++) {
      const result = await this.#call(call, fields);
      if (result.is !== 'unreachable' || result.waitMs === 0 || result.waitMs > maxRetryDelayMs || retries === maxRetries) return result;
      await new Promise((done) => setTimeout(done, result.waitMs));
    }
  }
}
