import type { CallError, Preview, Role, Seat } from '../api/client';

/** An attempt to join: first a seat, then the media connection. */
export interface JoinAttempt {
  name: string;
  role: Role;
  /** The number of failures of this attempt. */
  attempt: number;
  /** The minimum delay that the server requires. */
  pauseMs: number;
  /** How often the server has responded that a host has to admit the visitor. */
  knocks: number;
  /** A host was in the room when the visitor asked last. */
  hostPresent: boolean;
  seat: Seat | null;
}

/** The state of the connection of a visitor in the room. */
export type Connection =
  | { is: 'connected' }
  /** LiveKit is reconnecting, and usually succeeds. */
  | { is: 'reconnecting' }
  /** LiveKit failed, or the seat is in another breakout room now: the page takes its seat again. */
  | { is: 'rejoining'; joinAttempt: JoinAttempt; moving: boolean }
  /** The media server has closed the room: the page asks the server why. */
  | { is: 'checking'; attempt: number; pauseMs: number };

/** `free` and `full` are for a visitor who waits for a seat of a full room: whether there is one now. */
export type LobbyNotice = 'linkTaken' | 'free' | 'full' | 'open' | 'rejoin';
export type JoinError = 'unreachable' | 'gaveUp' | 'noMedia' | 'name' | 'loadFailed' | 'busyNetwork';

/** A host's announcement to everybody. */
export interface Announcement {
  text: string;
  from: string;
}

/** The state of the visit, from opening the address to the last page. */
export type Visit =
  | { at: 'opening'; attempt: number; pauseMs: number }
  | { at: 'wrongLink'; preview: Preview }
  /** The visitor is already in the room and chooses where to be. */
  | {
      at: 'alreadyJoined';
      preview: Preview;
      other: 'tab' | 'device';
      staying: boolean;
      /** When the visitor entered the room on this page before; null otherwise. */
      joinedAt: number | null;
    }
  | {
      at: 'lobby';
      preview: Preview;
      /** The name that was entered before an error replaced the lobby. */
      enteredName: string | null;
      notice: LobbyNotice | null;
      error: JoinError | null;
      joinAttempt: JoinAttempt | null;
      /** When the visitor entered the room before, also if the page was reloaded since; null otherwise. */
      joinedAt: number | null;
      /** Join automatically when the room opens. */
      joinOnOpen: boolean;
      /** The number of polls of a scheduled room. */
      polls: number;
      pauseMs: number;
    }
  /** `joinedAt`: the first entry; the time outside is not counted. */
  | {
      at: 'room';
      seat: Seat;
      joinedAt: number;
      connection: Connection;
      announcement: Announcement | null;
      /** The visitor ended the room for everybody. */
      endedByVisitor: boolean;
    }
  | {
      at: 'left';
      reason: 'left' | 'elsewhere' | 'limited';
      seat: Seat;
      joinedAt: number;
      durationMs: number;
      error: JoinError | null;
      joinAttempt: JoinAttempt | null;
    }
  | {
      at: 'removed';
      title: string;
      durationMs: number;
      enteredName: string;
      /** The number of polls whether a host has readmitted the visitor. */
      polls: number;
    }
  | {
      at: 'refused';
      error: CallError;
      title: string | null;
      /** How long the visitor was in the room; null when never. */
      durationMs: number | null;
      enteredName: string | null;
      endedByVisitor: boolean;
      /** The address to which visitors are redirected who were in the room. */
      redirectUrl: string | null;
      /** The number of polls whether the error still applies. */
      polls: number;
    };

/** Why the media connection ended. `limited`: this browser sent more than the server accepts. */
export type DisconnectCause = 'lost' | 'elsewhere' | 'limited' | 'removed' | 'deleted' | 'moved';

export type Event =
  /**
   * `duplicateTab`: another tab of this browser is in the room with this seat. `joinedAt`:
   * when this tab entered the room before it was reloaded.
   */
  | { type: 'previewed'; preview: Preview; duplicateTab?: boolean; joinedAt?: number | null }
  | { type: 'refused'; error: CallError }
  | { type: 'unreachable'; waitMs: number }
  | { type: 'seated'; seat: Seat }
  /** A host has to admit the visitor; ask again after the pause. */
  | { type: 'mustWait'; pauseMs: number; hostPresent: boolean }
  | { type: 'connected' }
  | { type: 'notConnected' }
  | { type: 'loadFailed' }
  | { type: 'reconnecting' }
  | { type: 'reconnected' }
  | { type: 'disconnected'; cause: DisconnectCause }
  | { type: 'announced'; announcement: Announcement }
  | { type: 'dismissed' }
  | { type: 'join'; name: string }
  /** Join automatically under this name when the room opens; null cancels that. */
  | { type: 'joinOnOpen'; name: string | null }
  /** Stop waiting for a host. */
  | { type: 'stopWaiting' }
  | { type: 'joinAsGuest' }
  /** Join in this tab instead of the other one. */
  | { type: 'joinHere' }
  | { type: 'stayThere' }
  | { type: 'leave' }
  /** The server has ended the room because this visitor asked for it. */
  | { type: 'ended' }
  | { type: 'rejoin' };

export const opening: Visit = { at: 'opening', attempt: 0, pauseMs: 0 };

/** Reports whether the lobby tells the visitor when a seat of the full room is free. */
export function waitsForSeat({ notice }: Extract<Visit, { at: 'lobby' }>): boolean {
  return notice === 'free' || notice === 'full';
}
