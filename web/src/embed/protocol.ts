// The messages between this page and the page that embeds it, which web/embed also uses.
import type { EndReason } from '../api/client';

/** An event for the page that embeds this one. It is only about this visitor. */
export type EmbedEvent =
  /** The visitor is in the room. Reconnecting and moving between breakout rooms send no event. */
  | { type: 'joined' }
  /** The visitor has left the room, which may continue. */
  | { type: 'left'; reason: 'left' | 'elsewhere' | 'limited' | 'removed' | 'refused' | 'unloaded' }
  /** The room has ended, whether or not the visitor was in it. */
  | { type: 'ended'; reason: EndReason | null };

/** What the page that embeds this one learns of the visit. */
export type News =
  | EmbedEvent
  /** How many people are in the room, the visitor included. */
  | { type: 'people'; count: number }
  /** Whether the others do not hear or do not see the visitor. */
  | { type: 'mute'; microphone: boolean; camera: boolean };

/** The answer to a command. `error` is a sentence that says why the room has not done it. */
export type Reply = { type: 'reply'; id: number } & ({ ok: true } | { ok: false; error: string });

/** A message to the page that embeds this one. */
export type FrameMessage = { source: 'parley' } & (({ room_id: string } & News) | Reply);

export type Command = 'muteMicrophone' | 'unmuteMicrophone' | 'muteCamera' | 'unmuteCamera' | 'leave';

/** A command of the page that embeds this one. */
export interface CommandMessage {
  source: 'parley-host';
  /** The number that the reply repeats. */
  id: number;
  command: Command;
}

export const notInRoom = 'The visitor is not in the room.';
