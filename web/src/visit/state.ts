import type { Preview, Refusal, Role, Seat } from '../api/client';

/** An attempt to come in: first a seat, then, when there is one, the media connection. */
export interface JoinAttempt {
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
export type Connection =
  | { is: 'connected' }
  /** LiveKit mends it, and mostly can. */
  | { is: 'reconnecting' }
  /** It could not, or the seat is in another breakout room now: the page takes its seat again. */
  | { is: 'rejoining'; joinAttempt: JoinAttempt; moving: boolean }
  /** The room is gone from the media server: the page asks why. */
  | { is: 'checking'; attempt: number; pauseMs: number };

export type LobbyNotice = 'linkTaken' | 'free' | 'open';
export type JoinError = 'unreachable' | 'gaveUp' | 'noMedia' | 'name' | 'loadFailed' | 'busyNetwork';

/** What a host says to everybody. */
export interface Announcement {
  text: string;
  from: string;
}

/** The whole visit, from opening the address to the last page. */
export type Visit =
  | { at: 'opening'; attempt: number; pauseMs: number }
  | { at: 'wrongLink'; preview: Preview }
  /** The visitor is in the room already, and says where they want to be. */
  | { at: 'alreadyJoined'; preview: Preview; other: 'tab' | 'device'; staying: boolean }
  | {
      at: 'lobby';
      preview: Preview;
      /** Typed before the lobby was left for a page that said why not. */
      enteredName: string | null;
      notice: LobbyNotice | null;
      error: JoinError | null;
      joinAttempt: JoinAttempt | null;
      /** Comes in by itself when the room opens. */
      joinOnOpen: boolean;
      /** Quiet questions whether a scheduled room has opened. */
      polls: number;
      pauseMs: number;
    }
  | { at: 'room'; seat: Seat; joinedAt: number; connection: Connection; announcement: Announcement | null }
  | { at: 'left'; reason: 'left' | 'elsewhere' | 'limited'; seat: Seat; durationMs: number; error: JoinError | null; joinAttempt: JoinAttempt | null }
  | {
      at: 'removed';
      title: string;
      durationMs: number;
      enteredName: string;
      /** Questions whether a host has let the visitor in again. */
      polls: number;
    }
  | {
      at: 'refused';
      refusal: Refusal;
      title: string | null;
      /** How long the visitor had been in the room before; null when never. */
      durationMs: number | null;
      enteredName: string | null;
      /** Where somebody goes who was in the room. */
      redirectUrl: string | null;
      /** Quiet questions whether it has changed. */
      polls: number;
    };

/** Why the media connection ended, as far as the page cares. `limited`: this browser sent more than the server accepts. */
export type DisconnectCause = 'lost' | 'elsewhere' | 'limited' | 'removed' | 'deleted' | 'moved';

export type Event =
  /** `rival`: another tab of this browser is in the room with this seat. */
  | { type: 'previewed'; preview: Preview; duplicateTab?: boolean }
  | { type: 'refused'; refusal: Refusal }
  | { type: 'unreachable'; waitMs: number }
  | { type: 'seated'; seat: Seat }
  /** Somebody has to let the visitor in; ask again after that long. */
  | { type: 'mustWait'; pauseMs: number }
  | { type: 'connected' }
  | { type: 'notConnected' }
  | { type: 'loadFailed' }
  | { type: 'reconnecting' }
  | { type: 'reconnected' }
  | { type: 'disconnected'; cause: DisconnectCause }
  | { type: 'announced'; announcement: Announcement }
  | { type: 'dismissed' }
  | { type: 'join'; name: string }
  /** Join when it opens, under that name; null: not by itself. */
  | { type: 'joinOnOpen'; name: string | null }
  /** Not to wait any longer until a host lets one in. */
  | { type: 'stopWaiting' }
  | { type: 'joinAsGuest' }
  /** Here, and not where they are already. */
  | { type: 'joinHere' }
  | { type: 'stayThere' }
  | { type: 'leave' }
  | { type: 'rejoin' };

export const opening: Visit = { at: 'opening', attempt: 0, pauseMs: 0 };
