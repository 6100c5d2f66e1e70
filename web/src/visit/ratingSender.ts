import type { Body, JoinApi, Result } from '../api/client';
import type { KeyValueStorage } from '../state/storage';

/** Sends the visitor's rating of the meeting, once for each seat. */
export class RatingSender {
  readonly #api: JoinApi;
  readonly #seatKey: Promise<string>;
  readonly #storage: KeyValueStorage;
  readonly #storageKey: string;

  constructor(api: JoinApi, seatKey: Promise<string>, storage: KeyValueStorage, roomId: string) {
    this.#api = api;
    this.#seatKey = seatKey;
    this.#storage = storage;
    this.#storageKey = `parley.rated.${roomId}`;
  }

  /** Null when this tab has rated the meeting. */
  get send(): ((rating: Body<'feedback'>['rating']) => Promise<Result<null>>) | null {
    return this.#storage.get(this.#storageKey) === null ? this.#send : null;
  }

  readonly #send = async (rating: Body<'feedback'>['rating']): Promise<Result<null>> => {
    const result = await this.#api.call('feedback', { seat_key: await this.#seatKey, rating });
    if (result.is === 'ok') this.#storage.set(this.#storageKey, rating);
    return result;
  };
}
