import { RoomEvent, type Room } from 'livekit-client';
import { FloodLimiter } from './floodLimiter';
import { decode, chatTopic, type Packet } from './packet';

/** A message, and who the server says it is from. */
export interface ReceivedMessage extends Packet {
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
  #unread: ReceivedMessage[] = [];
  #listener: ((message: ReceivedMessage) => void) | null = null;

  constructor(room: Room) {
    const floodLimiter = new FloodLimiter();
    room.on(RoomEvent.DataReceived, (payload, sender, _kind, messageTopic, _encryption, identity) => {
      // The server stamps the identity; what comes without one is the server's own.
      const from = sender?.identity || identity;
      const packet = messageTopic === chatTopic && from ? decode(payload) : null;
      if (!from || !packet || floodLimiter.exceedsLimit(from, Date.now())) return;
      const message = { ...packet, from, name: sender?.name ?? '' };
      if (this.#listener) this.#listener(message);
      else this.#unread.push(message);
    });
  }

  /** Gives what has come and what comes, until the returned function is called. */
  subscribe(listener: (message: ReceivedMessage) => void): () => void {
    this.#listener = listener;
    for (const message of this.#unread.splice(0)) listener(message);
    return () => {
      if (this.#listener === listener) this.#listener = null;
    };
  }
}
