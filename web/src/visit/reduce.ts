import type { Preview, Refusal, Role, Seat } from '../api/client';
import { startOf } from './schedule';
import type { Arrival, Event, Link, LobbyNotice, Loss, Trouble, Visit } from './state';

type InLobby = Extract<Visit, { at: 'lobby' }>;
type InRoom = Extract<Visit, { at: 'room' }>;

/** A server that does not answer is given that much time before a waiting page asks again. */
const doorPause = 2_000;
/** Somebody who waits at the door is told after this many attempts; somebody who was inside never gives up. */
const doorAttempts = 6;
const mediaAttempts = 2;

/** What happens next. Pure: the clock comes in, nothing goes out. */
export function reduce(visit: Visit, event: Event, now: number): Visit {
  switch (event.type) {
    case 'previewed':
      return previewed(visit, event.preview, event.rival ?? false);
    case 'refused':
      return refused(visit, event.refusal, now);
    case 'unreachable':
      return unreachable(visit, event.waitMs);
    case 'seated':
      return seated(visit, event.seat);
    case 'toWait':
      return toWait(visit, event.pauseMs);
    case 'connected':
      return connected(visit, now);
    case 'notConnected':
      return notConnected(visit);
    case 'stale':
      return visit.at === 'lobby' || visit.at === 'away' ? { ...visit, arrival: null, trouble: 'stale' } : visit;
    case 'shaky':
      return visit.at === 'room' && visit.link.is === 'up' ? { ...visit, link: { is: 'shaky' } } : visit;
    case 'steady':
      return visit.at === 'room' && visit.link.is === 'shaky' ? { ...visit, link: { is: 'up' } } : visit;
    case 'dropped':
      return visit.at === 'room' ? dropped(visit, event.loss, now) : visit;
    case 'told':
      return visit.at === 'room' ? { ...visit, word: event.word } : visit;
    case 'heard':
      return visit.at === 'room' ? { ...visit, word: null } : visit;
    case 'join':
      return visit.at === 'lobby' && !visit.arrival ? joining(visit, event.name) : visit;
    case 'wait':
      if (visit.at !== 'lobby' || visit.arrival) return visit;
      return { ...visit, typed: event.name ?? visit.typed, eager: event.name !== null };
    case 'giveUp':
      return visit.at === 'lobby' && visit.arrival?.knocks ? { ...visit, trouble: null, arrival: null } : visit;
    case 'asGuest':
      return visit.at === 'wrongLink' ? lobby(withoutLink(visit.preview), null, null) : visit;
    case 'joinHere':
      return visit.at === 'twice' ? here(visit.preview) : visit;
    case 'stayThere':
      return visit.at === 'twice' ? { ...visit, staying: true } : visit;
    case 'leave':
      return visit.at === 'room' ? away(visit.seat, 'left', now - visit.since) : visit;
    case 'comeBack':
      return visit.at === 'away' && !visit.arrival
        ? { ...visit, trouble: null, arrival: arriving(visit.seat.name, visit.seat.role) }
        : visit;
  }
}

function previewed(visit: Visit, preview: Preview, rival: boolean): Visit {
  if (visit.at === 'opening') {
    const other = rival ? 'tab' : preview.you.elsewhere ? 'device' : null;
    return other ? { at: 'twice', preview, other, staying: false } : admitted(preview, null, null);
  }
  if (visit.at === 'lobby') return waited(visit, preview);
  if (visit.at === 'refused') {
    const notice = visit.refusal.code === 'room_full' ? 'free' : null;
    // At first sight a full room still shows its first view: only taking a seat
    // says for sure. Here the visitor was told, and waits for a place.
    if (notice === 'free' && preview.participants >= preview.max_participants && !preview.you.returning) {
      return { ...visit, polls: visit.polls + 1 };
    }
    return admitted(preview, visit.typed, notice);
  }
  if (visit.at === 'removed') return letGo(visit, preview);
  // The media server dropped the room, yet the room goes on: take the seat again.
  if (visit.at === 'room' && visit.link.is === 'asking') return returning(visit, visit.link.attempt + 1);
  return visit;
}

/** Nobody has removed the visitor: in a full room their place went to a host. */
function letGo(visit: Extract<Visit, { at: 'removed' }>, preview: Preview): Visit {
  if (visit.polls > 0 || preview.participants < preview.max_participants) return admitted(preview, visit.typed, null);
  const { title, stayMs, typed } = visit;
  return { at: 'refused', refusal: { code: 'room_full', reason: null, waitMs: 0 }, title, stayMs, typed, onward: null, polls: 0 };
}

/** What a preview leads to, for somebody who is not inside. */
function admitted(preview: Preview, typed: string | null, notice: LobbyNotice | null): Visit {
  const { role, link, returning } = preview.you;
  if ((link === 'unknown' || link === 'expired') && role === 'guest' && !returning) return { at: 'wrongLink', preview };
  return lobby(preview, typed, link === 'taken' ? 'linkTaken' : notice);
}

/** Somebody waits for a scheduled room and has asked how it stands. */
function waited(visit: InLobby, preview: Preview): Visit {
  if (visit.arrival) return visit;
  // Somebody else came in with the host's link: that is another visit.
  if (preview.you.role !== visit.preview.you.role) return admitted(preview, null, null);
  const asked: InLobby = { ...visit, preview, polls: visit.polls + 1, pauseMs: 0 };
  if (startOf(preview) !== null) return asked;
  return visit.eager && visit.typed ? joining(asked, visit.typed) : { ...asked, notice: 'open' };
}

function joining(visit: InLobby, name: string): Visit {
  return { ...visit, typed: name, eager: false, trouble: null, arrival: arriving(name, visit.preview.you.role) };
}

/** Their seat has a name, and where it is now they chose their devices: nothing is left to ask. */
function here(preview: Preview): Visit {
  const first = lobby(preview, null, null);
  return preview.you.name ? joining(first, preview.you.name) : first;
}

function lobby(preview: Preview, typed: string | null, notice: LobbyNotice | null): InLobby {
  return { at: 'lobby', preview, typed, notice, trouble: null, arrival: null, eager: false, polls: 0, pauseMs: 0 };
}

function refused(visit: Visit, refusal: Refusal, now: number): Visit {
  const page = (title: string | null, stayMs: number | null, typed: string | null, polls: number, onward: string | null = null): Visit => ({
    at: 'refused',
    refusal,
    title,
    stayMs,
    typed,
    onward,
    polls,
  });
  if (refusal.code === 'too_many_joins') return queued(visit, refusal.waitMs);
  switch (visit.at) {
    case 'lobby':
      if (refusal.code === 'link_taken') return lobby(asGuest(visit.preview), null, 'linkTaken');
      if (visit.arrival && refusal.code === 'invalid_request') return { ...visit, trouble: 'name', arrival: null };
      // Two clocks a moment apart: whoever pressed comes in when it opens.
      if (refusal.code === 'room_not_open' && visit.preview.start_time) {
        return { ...visit, preview: { ...visit.preview, state: 'scheduled' }, arrival: null, eager: true, polls: visit.polls + 1, pauseMs: refusal.waitMs };
      }
      if (refusal.code === 'too_many_attempts' && (!visit.arrival || visit.arrival.knocks > 0)) return unreachable(visit, refusal.waitMs);
      return page(visit.preview.title, null, visit.typed, 0);
    case 'room':
      // A whole office comes back through one address after a restart: that is no reason to be sent away.
      if (refusal.code === 'too_many_attempts') return unreachable(visit, refusal.waitMs);
      return page(visit.seat.title, now - visit.since, visit.seat.name, 0, refusal.code === 'room_ended' ? (visit.seat.logout_url ?? null) : null);
    case 'away':
      return page(visit.seat.title, refusal.code === 'room_ended' ? visit.stayMs : null, visit.seat.name, 0);
    case 'refused':
      return page(visit.title, visit.stayMs, visit.typed, visit.polls + 1, visit.onward);
    case 'removed':
      if (refusal.code === 'removed') return { ...visit, polls: visit.polls + 1 };
      return page(visit.title, visit.stayMs, visit.typed, 0);
    case 'opening':
      return page(null, null, null, 0);
    case 'wrongLink':
    case 'twice':
      return visit;
  }
}

function withoutLink(preview: Preview): Preview {
  const { link: _, ...you } = preview.you;
  return { ...preview, you };
}

/** The host's link is somebody else's now: the visitor is asked for a name of their own. */
function asGuest(preview: Preview): Preview {
  return { ...preview, you: { ...preview.you, role: 'guest', name: '', returning: false, link: 'taken' } };
}

function unreachable(visit: Visit, pauseMs: number): Visit {
  switch (visit.at) {
    case 'opening':
      return { ...visit, attempt: visit.attempt + 1, pauseMs };
    case 'refused':
    case 'removed':
      return { ...visit, polls: visit.polls + 1 };
    case 'lobby':
      if (!visit.arrival) return { ...visit, polls: visit.polls + 1, pauseMs: Math.max(pauseMs, doorPause) };
      return atDoor(visit, 'unreachable', pauseMs, doorAttempts, 'gaveUp');
    case 'away':
      return atDoor(visit, 'unreachable', pauseMs, doorAttempts, 'gaveUp');
    case 'room':
      if (visit.link.is === 'returning') return again(visit, visit.link, pauseMs);
      if (visit.link.is === 'asking') return { ...visit, link: { is: 'asking', attempt: visit.link.attempt + 1, pauseMs } };
      return visit;
    case 'wrongLink':
    case 'twice':
      return visit;
  }
}

function seated(visit: Visit, seat: Seat): Visit {
  const next = withArrival(visit, (arrival) => ({ ...arrival, seat, knocks: 0, attempt: isQueued(visit) ? 0 : arrival.attempt }));
  return (next.at === 'lobby' || next.at === 'away') && isQueued(next) ? { ...next, trouble: null } : next;
}

/** Waiting for a turn is no failed attempt. */
function isQueued(visit: Visit): boolean {
  return (visit.at === 'lobby' || visit.at === 'away') && visit.trouble === 'busyNetwork';
}

/** Many people join from the visitor's network: the page waits for its turn. */
function queued(visit: Visit, pauseMs: number): Visit {
  if (visit.at === 'room' && visit.link.is === 'returning') return again(visit, visit.link, pauseMs);
  if ((visit.at !== 'lobby' && visit.at !== 'away') || !visit.arrival) return visit;
  const { arrival } = visit;
  return { ...visit, trouble: 'busyNetwork', arrival: { ...arrival, seat: null, attempt: arrival.attempt + 1, pauseMs } };
}

/** Not yet: the same question again, until somebody has let the visitor in. */
function toWait(visit: Visit, pauseMs: number): Visit {
  if (visit.at === 'room' && visit.link.is === 'returning') return again(visit, visit.link, pauseMs);
  if ((visit.at !== 'lobby' && visit.at !== 'away') || !visit.arrival) return visit;
  const { arrival } = visit;
  return { ...visit, trouble: null, arrival: { ...arrival, attempt: 0, pauseMs, knocks: arrival.knocks + 1 } };
}

function notConnected(visit: Visit): Visit {
  if (visit.at === 'room' && visit.link.is === 'returning') return again(visit, visit.link, 0);
  if (visit.at === 'lobby' || visit.at === 'away') return atDoor(visit, visit.trouble, 0, mediaAttempts, 'noMedia');
  return visit;
}

/** One more try for somebody outside who pressed a button, or an end to trying. */
function atDoor(
  visit: Extract<Visit, { at: 'lobby' | 'away' }>,
  meanwhile: Trouble | null,
  pauseMs: number,
  attempts: number,
  afterwards: Trouble,
): Visit {
  const { arrival } = visit;
  if (!arrival) return visit;
  const attempt = arrival.attempt + 1;
  // Whoever waits to be let in waits for a server, too.
  if (attempt >= attempts && arrival.knocks === 0) return { ...visit, trouble: afterwards, arrival: null };
  return { ...visit, trouble: meanwhile, arrival: { ...arrival, seat: null, attempt, pauseMs } };
}

function connected(visit: Visit, now: number): Visit {
  if (visit.at === 'room') {
    const seat = visit.link.is === 'returning' ? visit.link.arrival.seat : null;
    return seat ? { ...visit, seat, link: { is: 'up' } } : visit;
  }
  if (visit.at === 'lobby' || visit.at === 'away') {
    const seat = visit.arrival?.seat;
    return seat ? { at: 'room', seat, since: now, link: { is: 'up' }, word: null } : visit;
  }
  return visit;
}

function dropped(visit: InRoom, loss: Loss, now: number): Visit {
  const underWay = visit.link.is === 'returning';
  switch (loss) {
    case 'lost':
      return underWay ? visit : returning(visit, 0);
    case 'deleted':
      if (underWay) return visit;
      // A breakout room was closed: its people belong in the room again.
      if (visit.seat.breakout) return returning(visit, 0, 0, true);
      return { ...visit, link: { is: 'asking', attempt: 0, pauseMs: 0 } };
    case 'moved':
      return underWay ? visit : returning(visit, 0, 0, true);
    case 'elsewhere':
    case 'limited':
      return away(visit.seat, loss, now - visit.since);
    case 'removed':
      return { at: 'removed', title: visit.seat.title, stayMs: now - visit.since, typed: visit.seat.name, polls: 0 };
  }
}

function returning(visit: InRoom, attempt: number, pauseMs = 0, moving = false): Visit {
  const arrival = { ...arriving(visit.seat.name, visit.seat.role), attempt, pauseMs };
  return { ...visit, link: { is: 'returning', arrival, moving } };
}

/** The next attempt on the same way. */
function again(visit: InRoom, { arrival, moving }: Extract<Link, { is: 'returning' }>, pauseMs: number): Visit {
  return returning(visit, arrival.attempt + 1, pauseMs, moving);
}

function arriving(name: string, role: Role): Arrival {
  return { name, role, attempt: 0, pauseMs: 0, knocks: 0, seat: null };
}

function away(seat: Seat, why: Extract<Visit, { at: 'away' }>['why'], stayMs: number): Visit {
  return { at: 'away', why, seat, stayMs, trouble: null, arrival: null };
}

function withArrival(visit: Visit, change: (arrival: Arrival) => Arrival): Visit {
  if ((visit.at === 'lobby' || visit.at === 'away') && visit.arrival) return { ...visit, arrival: change(visit.arrival) };
  if (visit.at === 'room' && visit.link.is === 'returning') {
    return { ...visit, link: { ...visit.link, arrival: change(visit.link.arrival) } };
  }
  return visit;
}
