import type { Preview, Refusal, Role, Seat } from '../api/client';

/** An attempt to come in: first a seat, then, when there is one, the media connection. */
export interface Arrival {
  name: string;
  role: Role;
  /** Of this arrival; each failure adds one. */
  attempt: number;
  /** The server asked for that much patience. */
  pauseMs: number;
  /** How often the server has said to wait until a host lets the visitor in. */
  knocks: number;
  seat: Seat | null;
}

/** How somebody in the room is connected. */
export type Link =
  | { is: 'up' }
  /** LiveKit mends it, and mostly can. */
  | { is: 'shaky' }
  /** It could not, or the seat is in another breakout room now: the page takes its seat again. */
  | { is: 'returning'; arrival: Arrival; moving: boolean }
  /** The room is gone from the media server: the page asks why. */
  | { is: 'asking'; attempt: number; pauseMs: number };

export type LobbyNotice = 'linkTaken' | 'free' | 'open';
export type Trouble = 'unreachable' | 'gaveUp' | 'noMedia' | 'name' | 'stale' | 'busyNetwork';

/** What a host says to everybody. */
export interface Word {
  text: string;
  from: string;
}

/** The whole visit, from opening the address to the last page. */
export type Visit =
  | { at: 'opening'; attempt: number; pauseMs: number }
  | { at: 'wrongLink'; preview: Preview }
  /** The visitor is in the room already, and says where they want to be. */
  | { at: 'twice'; preview: Preview; other: 'tab' | 'device'; staying: boolean }
  | {
      at: 'lobby';
      preview: Preview;
      /** Typed before the lobby was left for a page that said why not. */
      typed: string | null;
      notice: LobbyNotice | null;
      trouble: Trouble | null;
      arrival: Arrival | null;
      /** Comes in by itself when the room opens. */
      eager: boolean;
      /** Quiet questions whether a scheduled room has opened. */
      polls: number;
      pauseMs: number;
    }
  | { at: 'room'; seat: Seat; since: number; link: Link; word: Word | null }
  | { at: 'away'; why: 'left' | 'elsewhere' | 'limited'; seat: Seat; stayMs: number; trouble: Trouble | null; arrival: Arrival | null }
  | {
      at: 'removed';
      title: string;
      stayMs: number;
      typed: string;
      /** Questions whether a host has let the visitor in again. */
      polls: number;
    }
  | {
      at: 'refused';
      refusal: Refusal;
      title: string | null;
      /** How long the visitor had been in the room before; null when never. */
      stayMs: number | null;
      typed: string | null;
      /** Where somebody goes who was in the room. */
      onward: string | null;
      /** Quiet questions whether it has changed. */
      polls: number;
    };

/** Why the media connection ended, as far as the page cares. `limited`: this browser sent more than the server accepts. */
export type Loss = 'lost' | 'elsewhere' | 'limited' | 'removed' | 'deleted' | 'moved';

export type Event =
  /** `rival`: another tab of this browser is in the room with this seat. */
  | { type: 'previewed'; preview: Preview; rival?: boolean }
  | { type: 'refused'; refusal: Refusal }
  | { type: 'unreachable'; waitMs: number }
  | { type: 'seated'; seat: Seat }
  /** Somebody has to let the visitor in; ask again after that long. */
  | { type: 'toWait'; pauseMs: number }
  | { type: 'connected' }
  | { type: 'notConnected' }
  | { type: 'stale' }
  | { type: 'shaky' }
  | { type: 'steady' }
  | { type: 'dropped'; loss: Loss }
  | { type: 'told'; word: Word }
  | { type: 'heard' }
  | { type: 'join'; name: string }
  /** Join when it opens, under that name; null: not by itself. */
  | { type: 'wait'; name: string | null }
  /** Not to wait any longer until a host lets one in. */
  | { type: 'giveUp' }
  | { type: 'asGuest' }
  /** Here, and not where they are already. */
  | { type: 'joinHere' }
  | { type: 'stayThere' }
  | { type: 'leave' }
  | { type: 'comeBack' };

export const opening: Visit = { at: 'opening', attempt: 0, pauseMs: 0 };
