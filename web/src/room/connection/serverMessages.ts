import { type Room, RoomEvent } from 'livekit-client';
import { isReaction, type Reaction } from '../reactions/reactions';

type ServerMessage =
  | { kind: 'move' }
  | { kind: 'broadcast'; text: string; from: string }
  | { kind: 'reaction'; identity: string; reaction: Reaction }
  /** A host has muted the visitor. */
  | { kind: 'muted'; from: string }
  /** A host asks the visitor to unmute. */
  | { kind: 'unmute'; from: string };

type Listeners = { [K in ServerMessage['kind']]?: (message: Extract<ServerMessage, { kind: K }>) => void };

/** The topic of messages of the server. Chat messages have another one. */
const serverTopic = 'parley';

const decoder = new TextDecoder();

/** The messages of the server on one connection. Each is parsed once. */
export class ServerMessages {
  readonly #subscribers = new Set<Listeners>();

  constructor(room: Room) {
    room.on(RoomEvent.DataReceived, (payload, sender, _kind, topic, _encryption, identity) => {
      // A message of a participant has an identity.
      if (topic !== serverTopic || sender?.identity || identity) return;
      const message = read(payload);
      if (message) for (const listeners of this.#subscribers) notify(listeners, message);
    });
  }

  /** Delivers all further messages to the listener of their kind until the returned function is called. */
  subscribe(listeners: Listeners): () => void {
    this.#subscribers.add(listeners);
    return () => void this.#subscribers.delete(listeners);
  }
}

function notify(listeners: Listeners, message: ServerMessage): void {
  // TypeScript does not know that this listener takes messages of this kind.
  const listener = listeners[message.kind] as ((message: ServerMessage) => void) | undefined;
  listener?.(message);
}

/** Parses a message of the server; null when it is unknown. */
function read(payload: Uint8Array): ServerMessage | null {
  const { kind, text, from, identity, reaction } = parse(decoder.decode(payload));
  const hostName = typeof from === 'string' ? from : '';
  switch (kind) {
    case 'move':
      return { kind };
    case 'broadcast':
      return typeof text === 'string' ? { kind, text, from: hostName } : null;
    case 'reaction':
      return typeof identity === 'string' && isReaction(reaction) ? { kind, identity, reaction } : null;
    case 'muted':
    case 'unmute':
      return { kind, from: hostName };
    default:
      return null;
  }
}

function parse(json: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(json);
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}
