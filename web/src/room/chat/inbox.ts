import { RoomEvent, type Room } from 'livekit-client';
import { Flood } from './flood';
import { decode, topic, type Packet } from './packet';

/** A message, and who the server says it is from. */
export interface Mail extends Packet {
  from: string;
  /** Empty while this page has not heard of them. */
  name: string;
}

/**
 * What people write over one connection. It listens from before the connection
 * is made, and keeps what comes until somebody reads: nothing is lost while one
 * connection takes over from another.
 */
export class Inbox {
  #waiting: Mail[] = [];
  #reader: ((mail: Mail) => void) | null = null;

  constructor(room: Room) {
    const flood = new Flood();
    room.on(RoomEvent.DataReceived, (payload, sender, _kind, about, _encryption, identity) => {
      // The server stamps the identity; what comes without one is the server's own.
      const from = sender?.identity || identity;
      const packet = about === topic && from ? decode(payload) : null;
      if (!from || !packet || flood.isTooMuch(from, Date.now())) return;
      const mail = { ...packet, from, name: sender?.name ?? '' };
      if (this.#reader) this.#reader(mail);
      else this.#waiting.push(mail);
    });
  }

  /** Gives what has come and what comes, until the returned function is called. */
  read(reader: (mail: Mail) => void): () => void {
    this.#reader = reader;
    for (const mail of this.#waiting.splice(0)) reader(mail);
    return () => {
      if (this.#reader === reader) this.#reader = null;
    };
  }
}
