import type { Preview, Refusal, Role, Seat } from '../api/client';
import type { Arrival, Event, LobbyNotice, Loss, Trouble, Visit } from './state';

/** Somebody who waits at the door is told after this many attempts; somebody who was inside never gives up. */
const doorAttempts = 6;
const mediaAttempts = 2;

/** What happens next. Pure: the clock comes in, nothing goes out. */
export function reduce(visit: Visit, event: Event, now: number): Visit {
  switch (event.type) {
    case 'previewed':
      return previewed(visit, event.preview);
    case 'refused':
      return refused(visit, event.refusal, now);
    case 'unreachable':
      return unreachable(visit, event.waitMs);
    case 'seated':
      return withArrival(visit, (arrival) => ({ ...arrival, seat: event.seat }));
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
    case 'join':
      return visit.at === 'lobby' && !visit.arrival
        ? { ...visit, typed: event.name, trouble: null, arrival: arriving(event.name, visit.preview.you.role) }
        : visit;
    case 'asGuest':
      return visit.at === 'wrongLink' ? lobby(visit.preview, null, null) : visit;
    case 'leave':
      return visit.at === 'room' ? away(visit.seat, 'left', now - visit.since) : visit;
    case 'comeBack':
      return visit.at === 'away' && !visit.arrival
        ? { ...visit, trouble: null, arrival: arriving(visit.seat.name, visit.seat.role) }
        : visit;
  }
}

function previewed(visit: Visit, preview: Preview): Visit {
  if (visit.at === 'opening') return admitted(preview, null, null, 0);
  if (visit.at === 'refused') {
    const notice = visit.refusal.code === 'room_full' ? 'free' : visit.refusal.code === 'room_not_open' ? 'open' : null;
    // At first sight a full room still shows its first view: only taking a seat
    // says for sure. Here the visitor was told, and waits for a place.
    if (notice === 'free' && preview.participants >= preview.max_participants && !preview.you.returning) {
      return { ...visit, polls: visit.polls + 1 };
    }
    return admitted(preview, visit.typed, notice, visit.polls + 1);
  }
  // The media server dropped the room, yet the room goes on: take the seat again.
  if (visit.at === 'room' && visit.link.is === 'asking') return returning(visit, visit.link.attempt + 1);
  return visit;
}

/** What a preview leads to, for somebody who is not inside. */
function admitted(preview: Preview, typed: string | null, notice: LobbyNotice | null, polls: number): Visit {
  const { you } = preview;
  if (you.link === 'unknown' && you.role !== 'host') return { at: 'wrongLink', preview };
  // The host may open a scheduled room early; a guest waits.
  if (preview.state === 'scheduled' && you.role !== 'host') {
    const refusal: Refusal = { code: 'room_not_open', reason: null, waitMs: 0 };
    return { at: 'refused', refusal, title: preview.title, stayMs: null, typed, polls };
  }
  return lobby(preview, typed, you.link === 'taken' ? 'linkTaken' : notice);
}

function lobby(preview: Preview, typed: string | null, notice: LobbyNotice | null): Visit {
  return { at: 'lobby', preview, typed, notice, trouble: null, arrival: null };
}

function refused(visit: Visit, refusal: Refusal, now: number): Visit {
  const page = (title: string | null, stayMs: number | null, typed: string | null, polls: number): Visit => ({
    at: 'refused',
    refusal,
    title,
    stayMs,
    typed,
    polls,
  });
  switch (visit.at) {
    case 'lobby':
      if (refusal.code === 'link_taken') return lobby(asGuest(visit.preview), null, 'linkTaken');
      if (refusal.code === 'invalid_request') return { ...visit, trouble: 'name', arrival: null };
      return page(visit.preview.title, null, visit.typed, 0);
    case 'room':
      // A whole office comes back through one address after a restart: that is no reason to be sent away.
      if (refusal.code === 'too_many_attempts') return unreachable(visit, refusal.waitMs);
      return page(visit.seat.title, now - visit.since, visit.seat.name, 0);
    case 'away':
      return page(visit.seat.title, refusal.code === 'room_ended' ? visit.stayMs : null, visit.seat.name, 0);
    case 'refused':
      return page(visit.title, visit.stayMs, visit.typed, visit.polls + 1);
    case 'opening':
      return page(null, null, null, 0);
    case 'wrongLink':
    case 'removed':
      return visit;
  }
}

/** The host's link is somebody else's now: the visitor is asked for a name of their own. */
function asGuest(preview: Preview): Preview {
  return { ...preview, you: { role: 'guest', name: '', returning: false, link: 'taken' } };
}

function unreachable(visit: Visit, pauseMs: number): Visit {
  switch (visit.at) {
    case 'opening':
      return { ...visit, attempt: visit.attempt + 1, pauseMs };
    case 'refused':
      return { ...visit, polls: visit.polls + 1 };
    case 'lobby':
    case 'away':
      return atDoor(visit, 'unreachable', pauseMs, doorAttempts, 'gaveUp');
    case 'room':
      if (visit.link.is === 'returning') return returning(visit, visit.link.arrival.attempt + 1, pauseMs);
      if (visit.link.is === 'asking') return { ...visit, link: { is: 'asking', attempt: visit.link.attempt + 1, pauseMs } };
      return visit;
    case 'wrongLink':
    case 'removed':
      return visit;
  }
}

function notConnected(visit: Visit): Visit {
  if (visit.at === 'room' && visit.link.is === 'returning') return returning(visit, visit.link.arrival.attempt + 1);
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
  if (attempt >= attempts) return { ...visit, trouble: afterwards, arrival: null };
  return { ...visit, trouble: meanwhile, arrival: { ...arrival, seat: null, attempt, pauseMs } };
}

function connected(visit: Visit, now: number): Visit {
  if (visit.at === 'room') {
    const seat = visit.link.is === 'returning' ? visit.link.arrival.seat : null;
    return seat ? { ...visit, seat, link: { is: 'up' } } : visit;
  }
  if (visit.at === 'lobby' || visit.at === 'away') {
    const seat = visit.arrival?.seat;
    return seat ? { at: 'room', seat, since: now, link: { is: 'up' } } : visit;
  }
  return visit;
}

function dropped(visit: Extract<Visit, { at: 'room' }>, loss: Loss, now: number): Visit {
  switch (loss) {
    case 'lost':
      return returning(visit, 0);
    case 'deleted':
      return { ...visit, link: { is: 'asking', attempt: 0, pauseMs: 0 } };
    case 'elsewhere':
      return away(visit.seat, 'elsewhere', now - visit.since);
    case 'removed':
      return { at: 'removed', title: visit.seat.title, stayMs: now - visit.since };
  }
}

function returning(visit: Extract<Visit, { at: 'room' }>, attempt: number, pauseMs = 0): Visit {
  return { ...visit, link: { is: 'returning', arrival: { ...arriving(visit.seat.name, visit.seat.role), attempt, pauseMs } } };
}

function arriving(name: string, role: Role): Arrival {
  return { name, role, attempt: 0, pauseMs: 0, seat: null };
}

function away(seat: Seat, why: 'left' | 'elsewhere', stayMs: number): Visit {
  return { at: 'away', why, seat, stayMs, trouble: null, arrival: null };
}

function withArrival(visit: Visit, change: (arrival: Arrival) => Arrival): Visit {
  if ((visit.at === 'lobby' || visit.at === 'away') && visit.arrival) return { ...visit, arrival: change(visit.arrival) };
  if (visit.at === 'room' && visit.link.is === 'returning') {
    return { ...visit, link: { is: 'returning', arrival: change(visit.link.arrival) } };
  }
  return visit;
}
