import type { CallError, Preview, Role, Seat } from '../api/client';
import { startOf } from './schedule';
import {
  type Connection,
  type DisconnectCause,
  type Event,
  type JoinAttempt,
  type JoinError,
  type LobbyNotice,
  opening,
  type Visit,
  waitsForSeat,
} from './state';

type InLobby = Extract<Visit, { at: 'lobby' }>;
type InRoom = Extract<Visit, { at: 'room' }>;
type HasLeft = Extract<Visit, { at: 'left' }>;

/** The minimum pause before a waiting page polls an unreachable server again. */
const lobbyPollPauseMs = 2_000;
/**
 * Outside the room, joining fails after this many attempts. A visitor who was in the room
 * never stops trying.
 */
const maxSeatAttempts = 6;
const maxMediaAttempts = 2;

/** Returns the next state. A pure function: the time is an argument, and there are no side effects. */
export function reduce(visit: Visit, event: Event, now: number): Visit {
  switch (event.type) {
    case 'previewed':
      return previewed(visit, event.preview, event.duplicateTab ?? false, event.joinedAt ?? null, now);
    case 'refused':
      return refused(visit, event.error, now);
    case 'unreachable':
      return unreachable(visit, event.waitMs);
    case 'seated':
      return seated(visit, event.seat);
    case 'mustWait':
      return mustWait(visit, event.pauseMs, event.hostPresent);
    case 'connected':
      return connected(visit, now);
    case 'notConnected':
      return notConnected(visit);
    case 'loadFailed':
      return visit.at === 'lobby' || visit.at === 'left' ? { ...visit, joinAttempt: null, error: 'loadFailed' } : visit;
    case 'reconnecting':
      return visit.at === 'room' && visit.connection.is === 'connected' ? { ...visit, connection: { is: 'reconnecting' } } : visit;
    case 'reconnected':
      return visit.at === 'room' && visit.connection.is === 'reconnecting' ? { ...visit, connection: { is: 'connected' } } : visit;
    case 'disconnected':
      return visit.at === 'room' ? disconnected(visit, event.cause, now) : visit;
    case 'announced':
      return visit.at === 'room' ? { ...visit, announcement: event.announcement } : visit;
    case 'dismissed':
      return visit.at === 'room' ? { ...visit, announcement: null } : visit;
    case 'join':
      return visit.at === 'lobby' && !visit.joinAttempt ? joining(visit, event.name) : visit;
    case 'joinOnOpen':
      if (visit.at !== 'lobby' || visit.joinAttempt) return visit;
      return { ...visit, enteredName: event.name ?? visit.enteredName, joinOnOpen: event.name !== null };
    case 'stopWaiting':
      return visit.at === 'lobby' && visit.joinAttempt?.knocks ? { ...visit, error: null, joinAttempt: null } : visit;
    case 'joinAsGuest':
      return visit.at === 'wrongLink' ? lobby(withoutLink(visit.preview), null, null) : visit;
    case 'joinHere':
      return visit.at === 'alreadyJoined' ? joinHere(visit) : visit;
    case 'stayThere':
      return visit.at === 'alreadyJoined' ? { ...visit, staying: true } : visit;
    case 'leave':
      return visit.at === 'room' ? left(visit, 'left', now) : visit;
    case 'ended':
      // The media server may have closed the connection before the response came.
      return visit.at === 'room' || visit.at === 'refused' ? { ...visit, endedByVisitor: true } : visit;
    case 'rejoin':
      return visit.at === 'left' && !visit.joinAttempt
        ? { ...visit, error: null, joinAttempt: newJoinAttempt(visit.seat.name, visit.seat.role) }
        : visit;
  }
}

function previewed(visit: Visit, preview: Preview, duplicateTab: boolean, joinedAt: number | null, now: number): Visit {
  if (visit.at === 'opening') {
    const other = duplicateTab ? 'tab' : preview.you.elsewhere ? 'device' : null;
    if (other) return { at: 'alreadyJoined', preview, other, staying: false, joinedAt };
    const first = lobbyOrWrongLink(preview, null, null);
    if (first.at !== 'lobby' || joinedAt === null || !preview.you.returning) return first;
    // A visitor whom a host has to admit again reads that they can ask to join.
    return { ...first, notice: preview.you.waits ? null : 'rejoin', joinedAt };
  }
  if (visit.at === 'lobby') return lobbyPolled(visit, preview);
  if (visit.at === 'refused') {
    if (visit.error.code !== 'room_full') return lobbyOrWrongLink(preview, visit.enteredName, null);
    // The first view is shown for a full room, too, because only taking a seat is
    // reliable. Here the visitor was refused, and waits for a free seat.
    if (preview.you.full) return { ...visit, error: { ...visit.error, waitMs: 0 }, polls: visit.polls + 1 };
    return lobbyOrWrongLink(preview, visit.enteredName, seatNotice(preview));
  }
  if (visit.at === 'removed') return seatLost(visit, preview);
  if (visit.at === 'room') return previewedInRoom(visit, preview, now);
  if (visit.at === 'left') return previewedAfterLeaving(visit, preview, now);
  return visit;
}

/** A visitor who lost the connection comes back, unless they joined on another device meanwhile. */
function previewedInRoom(visit: InRoom, preview: Preview, now: number): Visit {
  const { connection } = visit;
  if (connection.is !== 'checking' && connection.is !== 'rejoining') return visit;
  if (preview.you.elsewhere) return left(visit, 'elsewhere', now);
  if (preview.you.waits) return askingAgain(preview, visit.seat.name, visit.joinedAt);
  // The media server closed the session but the room continues: take the seat again.
  return connection.is === 'checking' ? rejoining(visit, connection.attempt + 1) : visit;
}

/** A visitor who presses Rejoin chooses where to be if they joined on another device meanwhile. */
function previewedAfterLeaving(visit: HasLeft, preview: Preview, now: number): Visit {
  if (!visit.joinAttempt) return visit;
  // The page of a visitor who was displaced has asked already.
  const joinedAt = entryOf(visit, now);
  if (preview.you.elsewhere && visit.reason !== 'elsewhere')
    return { at: 'alreadyJoined', preview, other: 'device', staying: false, joinedAt };
  return preview.you.waits ? askingAgain(preview, visit.seat.name, joinedAt) : visit;
}

/** The waiting room is on, and a visitor who was in the room has to be admitted to come back. */
function askingAgain(preview: Preview, name: string, joinedAt: number): Visit {
  return { ...joining(lobby(preview, name, null), name), joinedAt };
}

/** When a visitor who comes back would have entered without the time outside. */
function entryOf(visit: HasLeft, now: number): number {
  return visit.reason === 'left' ? now - visit.durationMs : visit.joinedAt;
}

/** The visitor may come back: a host has let them in again, or the seat went to a host of a full room. */
function seatLost(visit: Extract<Visit, { at: 'removed' }>, preview: Preview): Visit {
  if (visit.polls > 0 || !preview.you.full) return lobbyOrWrongLink(preview, visit.enteredName, null);
  const { title, durationMs, enteredName } = visit;
  return {
    at: 'refused',
    error: { code: 'room_full', reason: null, title: null, maxParticipants: preview.max_participants, waitMs: 0 },
    title,
    durationMs,
    enteredName,
    endedByVisitor: false,
    redirectUrl: null,
    polls: 0,
  };
}

/** What a visitor who waits for a seat reads. If a host has to admit the visitor, a free seat is not enough. */
function seatNotice({ you }: Preview): LobbyNotice | null {
  if (you.full) return 'full';
  return you.waits ? null : 'free';
}

/** The state that a preview leads to for a visitor who is outside the room. */
function lobbyOrWrongLink(preview: Preview, enteredName: string | null, notice: LobbyNotice | null): Visit {
  const { role, link, returning } = preview.you;
  if ((link === 'unknown' || link === 'expired') && role === 'guest' && !returning) return { at: 'wrongLink', preview };
  return lobby(preview, enteredName, notice ?? (link === 'taken' ? 'linkTaken' : null));
}

/** Handles a preview while the visitor waits for a scheduled room, or has not joined an open one yet. */
function lobbyPolled(visit: InLobby, preview: Preview): Visit {
  if (visit.joinAttempt) return visit;
  // Another person has joined with the host's link: this is another visit now.
  if (preview.you.role !== visit.preview.you.role) return lobbyOrWrongLink(preview, null, null);
  const kept = visit.notice === 'rejoin' && preview.you.waits ? null : visit.notice;
  const notice = waitsForSeat(visit) ? seatNotice(preview) : kept;
  const polled: InLobby = { ...visit, preview, notice, polls: visit.polls + 1, pauseMs: 0 };
  // What the page says about others stays right.
  if (startOf(preview) !== null || startOf(visit.preview) === null) return polled;
  return visit.joinOnOpen && visit.enteredName ? joining(polled, visit.enteredName) : { ...polled, notice: 'open' };
}

function joining(visit: InLobby, name: string): InLobby {
  return { ...visit, enteredName: name, joinOnOpen: false, error: null, joinAttempt: newJoinAttempt(name, visit.preview.you.role) };
}

/** The seat has a name, and the devices were chosen on the other page, so that nothing is left to ask. */
function joinHere({ preview, joinedAt }: Extract<Visit, { at: 'alreadyJoined' }>): Visit {
  const first = { ...lobby(preview, null, null), joinedAt };
  return preview.you.name ? joining(first, preview.you.name) : first;
}

function lobby(preview: Preview, enteredName: string | null, notice: LobbyNotice | null): InLobby {
  return {
    at: 'lobby',
    preview,
    enteredName,
    notice,
    error: null,
    joinAttempt: null,
    joinedAt: null,
    joinOnOpen: false,
    polls: 0,
    pauseMs: 0,
  };
}

function refused(visit: Visit, error: CallError, now: number): Visit {
  const page = (
    title: string | null,
    durationMs: number | null,
    enteredName: string | null,
    polls: number,
    redirectUrl: string | null = null,
  ): Visit => ({
    at: 'refused',
    error,
    title,
    durationMs,
    enteredName,
    endedByVisitor: (visit.at === 'room' || visit.at === 'refused') && visit.endedByVisitor,
    redirectUrl,
    polls,
  });
  if (error.code === 'too_many_joins') return queued(visit, error.waitMs);
  switch (visit.at) {
    case 'lobby':
      // The link was used or has expired since the preview, which says what is left to do.
      if (error.code === 'link_taken') return opening;
      if (visit.joinAttempt && error.code === 'invalid_request') return { ...visit, error: 'name', joinAttempt: null };
      // The clocks differ slightly: the page joins when the room opens.
      if (error.code === 'room_not_open' && visit.preview.start_time) {
        return {
          ...visit,
          preview: { ...visit.preview, state: 'scheduled' },
          joinAttempt: null,
          joinOnOpen: true,
          polls: visit.polls + 1,
          pauseMs: error.waitMs,
        };
      }
      if (error.code === 'too_many_attempts' && (!visit.joinAttempt || visit.joinAttempt.knocks > 0))
        return unreachable(visit, error.waitMs);
      return page(visit.preview.title, null, visit.enteredName, 0);
    case 'room':
      // After a restart a whole office rejoins from one address, which is no reason to
      // send people away.
      if (error.code === 'too_many_attempts') return unreachable(visit, error.waitMs);
      return page(
        visit.seat.title,
        now - visit.joinedAt,
        visit.seat.name,
        0,
        error.code === 'room_ended' ? (visit.seat.logout_url ?? null) : null,
      );
    case 'left':
      return page(visit.seat.title, error.code === 'room_ended' ? visit.durationMs : null, visit.seat.name, 0);
    case 'refused':
      // Too many visitors of one network wait for a seat. This one goes on waiting, and asks when the server allows it.
      if (error.code === 'too_many_attempts' && visit.error.code === 'room_full')
        return { ...visit, error: { ...visit.error, waitMs: error.waitMs }, polls: visit.polls + 1 };
      return page(visit.title, visit.durationMs, visit.enteredName, visit.polls + 1, visit.redirectUrl);
    case 'removed':
      if (error.code === 'removed') return { ...visit, polls: visit.polls + 1 };
      return page(visit.title, visit.durationMs, visit.enteredName, 0);
    case 'opening':
      return page(error.title, null, null, 0);
    case 'wrongLink':
    case 'alreadyJoined':
      return visit;
  }
}

function withoutLink(preview: Preview): Preview {
  const { link: _, ...you } = preview.you;
  return { ...preview, you };
}

function unreachable(visit: Visit, pauseMs: number): Visit {
  switch (visit.at) {
    case 'opening':
      return { ...visit, attempt: visit.attempt + 1, pauseMs };
    case 'refused':
    case 'removed':
      return { ...visit, polls: visit.polls + 1 };
    case 'lobby':
      if (!visit.joinAttempt) return { ...visit, polls: visit.polls + 1, pauseMs: Math.max(pauseMs, lobbyPollPauseMs) };
      return retryOrFail(visit, 'unreachable', pauseMs, maxSeatAttempts, 'gaveUp');
    case 'left':
      return retryOrFail(visit, 'unreachable', pauseMs, maxSeatAttempts, 'gaveUp');
    case 'room':
      if (visit.connection.is === 'rejoining') return retryRejoin(visit, visit.connection, pauseMs);
      if (visit.connection.is === 'checking')
        return { ...visit, connection: { is: 'checking', attempt: visit.connection.attempt + 1, pauseMs } };
      return visit;
    case 'wrongLink':
    case 'alreadyJoined':
      return visit;
  }
}

function seated(visit: Visit, seat: Seat): Visit {
  const next = updateJoinAttempt(visit, (joinAttempt) => ({
    ...joinAttempt,
    seat,
    knocks: 0,
    attempt: isQueued(visit) ? 0 : joinAttempt.attempt,
  }));
  return (next.at === 'lobby' || next.at === 'left') && isQueued(next) ? { ...next, error: null } : next;
}

/** Waiting in the queue does not count as a failed attempt. */
function isQueued(visit: Visit): boolean {
  return (visit.at === 'lobby' || visit.at === 'left') && visit.error === 'busyNetwork';
}

/** Many people join from the visitor's network, so that the page waits for its turn. */
function queued(visit: Visit, pauseMs: number): Visit {
  if (visit.at === 'room' && visit.connection.is === 'rejoining') return retryRejoin(visit, visit.connection, pauseMs);
  if ((visit.at !== 'lobby' && visit.at !== 'left') || !visit.joinAttempt) return visit;
  const { joinAttempt } = visit;
  return { ...visit, error: 'busyNetwork', joinAttempt: { ...joinAttempt, seat: null, attempt: joinAttempt.attempt + 1, pauseMs } };
}

/** A host has to admit the visitor: ask again later. */
function mustWait(visit: Visit, pauseMs: number, hostPresent: boolean): Visit {
  if (visit.at === 'room' && visit.connection.is === 'rejoining') return retryRejoin(visit, visit.connection, pauseMs);
  if ((visit.at !== 'lobby' && visit.at !== 'left') || !visit.joinAttempt) return visit;
  const { joinAttempt } = visit;
  return { ...visit, error: null, joinAttempt: { ...joinAttempt, attempt: 0, pauseMs, knocks: joinAttempt.knocks + 1, hostPresent } };
}

function notConnected(visit: Visit): Visit {
  if (visit.at === 'room' && visit.connection.is === 'rejoining') return retryRejoin(visit, visit.connection, 0);
  if (visit.at === 'lobby' || visit.at === 'left') return retryOrFail(visit, visit.error, 0, maxMediaAttempts, 'noMedia');
  return visit;
}

/** Tries again, or reports the error after the last attempt. */
function retryOrFail(
  visit: Extract<Visit, { at: 'lobby' | 'left' }>,
  errorMeanwhile: JoinError | null,
  pauseMs: number,
  maxAttempts: number,
  finalError: JoinError,
): Visit {
  const { joinAttempt } = visit;
  if (!joinAttempt) return visit;
  const attempt = joinAttempt.attempt + 1;
  // A visitor who waits to be admitted also waits for an unreachable server.
  if (attempt >= maxAttempts && joinAttempt.knocks === 0) return { ...visit, error: finalError, joinAttempt: null };
  return { ...visit, error: errorMeanwhile, joinAttempt: { ...joinAttempt, seat: null, attempt, pauseMs } };
}

function connected(visit: Visit, now: number): Visit {
  if (visit.at === 'room') {
    const seat = visit.connection.is === 'rejoining' ? visit.connection.joinAttempt.seat : null;
    return seat ? { ...visit, seat, connection: { is: 'connected' } } : visit;
  }
  if (visit.at === 'lobby' || visit.at === 'left') {
    const seat = visit.joinAttempt?.seat;
    const joinedAt = visit.at === 'left' ? entryOf(visit, now) : (visit.joinedAt ?? now);
    return seat ? { at: 'room', seat, joinedAt, connection: { is: 'connected' }, announcement: null, endedByVisitor: false } : visit;
  }
  return visit;
}

function disconnected(visit: InRoom, cause: DisconnectCause, now: number): Visit {
  const alreadyRejoining = visit.connection.is === 'rejoining';
  switch (cause) {
    case 'lost':
      return alreadyRejoining ? visit : rejoining(visit, 0);
    case 'deleted':
      if (alreadyRejoining) return visit;
      // The breakout room was closed, so that the visitor returns to the main room.
      if (visit.seat.breakout) return rejoining(visit, 0, 0, true);
      return { ...visit, connection: { is: 'checking', attempt: 0, pauseMs: 0 } };
    case 'moved':
      return alreadyRejoining ? visit : rejoining(visit, 0, 0, true);
    case 'elsewhere':
    case 'limited':
      return left(visit, cause, now);
    case 'removed':
      return { at: 'removed', title: visit.seat.title, durationMs: now - visit.joinedAt, enteredName: visit.seat.name, polls: 0 };
  }
}

function rejoining(visit: InRoom, attempt: number, pauseMs = 0, moving = false): Visit {
  const joinAttempt = { ...newJoinAttempt(visit.seat.name, visit.seat.role), attempt, pauseMs };
  return { ...visit, connection: { is: 'rejoining', joinAttempt, moving } };
}

/** The next attempt to rejoin. */
function retryRejoin(visit: InRoom, { joinAttempt, moving }: Extract<Connection, { is: 'rejoining' }>, pauseMs: number): Visit {
  return rejoining(visit, joinAttempt.attempt + 1, pauseMs, moving);
}

function newJoinAttempt(name: string, role: Role): JoinAttempt {
  return { name, role, attempt: 0, pauseMs: 0, knocks: 0, hostPresent: false, seat: null };
}

function left({ seat, joinedAt }: InRoom, reason: Extract<Visit, { at: 'left' }>['reason'], now: number): Visit {
  return { at: 'left', reason, seat, joinedAt, durationMs: now - joinedAt, error: null, joinAttempt: null };
}

function updateJoinAttempt(visit: Visit, change: (joinAttempt: JoinAttempt) => JoinAttempt): Visit {
  if ((visit.at === 'lobby' || visit.at === 'left') && visit.joinAttempt) return { ...visit, joinAttempt: change(visit.joinAttempt) };
  if (visit.at === 'room' && visit.connection.is === 'rejoining') {
    return { ...visit, connection: { ...visit.connection, joinAttempt: change(visit.connection.joinAttempt) } };
  }
  return visit;
}
