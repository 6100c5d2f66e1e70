import { type Room, RoomEvent } from 'livekit-client';
import { FloodLimiter } from './floodLimiter';
import { chatTopic, decode, type Packet } from './packet';

/** A message with the sender that the server reports. */
export interface ReceivedMessage extends Packet {
  from: string;
  /** Empty while the page does not know the sender. */
  name: string;
}

/**
 * The chat messages of one connection. It listens from before the connection is made and
 * buffers messages until there is a listener, so that none is lost when one connection
 * replaces another.
 */
export class Inbox {
  #unread: ReceivedMessage[] = [];
  #listener: ((message: ReceivedMessage) => void) | null = null;

  constructor(room: Room) {
    const floodLimiter = new FloodLimiter();
    room.on(RoomEvent.DataReceived, (payload, sender, _kind, messageTopic, _encryption, identity) => {
      // The server sets the identity of the sender. Packets without one come from the
      // server itself.
      const from = sender?.identity || identity;
      const packet = messageTopic === chatTopic && from ? decode(payload) : null;
      if (!from || !packet || floodLimiter.exceedsLimit(from, performance.now())) return;
      const message = { ...packet, from, name: sender?.name ?? '' };
      if (this.#listener) this.#listener(message);
      else this.#unread.push(message);
    });
  }

  /** Delivers the buffered and all further messages until the returned function is called. */
  subscribe(listener: (message: ReceivedMessage) => void): () => void {
    this.#listener = listener;
    for (const message of this.#unread.splice(0)) listener(message);
    return () => {
      if (this.#listener === listener) this.#listener = null;
    };
  }
}
