import type { Refusal, Seat } from '../api/client';
import { backoff } from '../lib/backoff';
import { startOf, waitAtDoor } from './schedule';
import type { Arrival, Visit } from './state';

/** What the page has to do in this state, and how long it waits before. */
export type Task = {
  key: string;
  /** By the server's clock. */
  waitMs: (random: () => number, now: number) => number;
  /** The server named the time: nothing may shorten it. */
  firm: boolean;
} & (
  | { do: 'preview' }
  | { do: 'takeSeat'; arrival: Arrival }
  | { do: 'connect'; seat: Seat }
);

/** The state alone decides what is under way; null when it waits for the visitor. */
export function taskOf(visit: Visit): Task | null {
  switch (visit.at) {
    case 'opening':
      return preview(`opening ${visit.attempt}`, patience(visit), visit.pauseMs > 0);
    case 'refused': {
      const quiet = quietPoll(visit.refusal);
      return quiet && preview(`refused ${visit.refusal.code} ${visit.polls}`, quiet, isTimed(visit.refusal));
    }
    case 'lobby': {
      if (visit.arrival) return arrivalTask('lobby', visit.arrival);
      const { polls, pauseMs } = visit;
      const start = startOf(visit.preview);
      if (start === null) return null;
      return preview(`waiting ${polls}`, (random, now) => Math.max(pauseMs, waitAtDoor(start, now, random)), pauseMs > 0);
    }
    case 'away':
      return visit.arrival && arrivalTask('away', visit.arrival);
    case 'room':
      if (visit.link.is === 'returning') return arrivalTask('returning', visit.link.arrival);
      if (visit.link.is === 'asking') return preview(`asking ${visit.link.attempt}`, patience(visit.link), visit.link.pauseMs > 0);
      return null;
    case 'removed':
      // Once at once, whether it was a host or their place was needed; then only by the button.
      return preview(`removed ${visit.polls}`, () => (visit.polls === 0 ? 0 : Infinity), false);
    case 'wrongLink':
    case 'twice':
      return null;
  }
}

function preview(key: string, waitMs: Task['waitMs'], firm: boolean): Task {
  return { do: 'preview', key, waitMs, firm };
}

function arrivalTask(where: string, arrival: Arrival): Task {
  const key = `${where} ${arrival.knocks} ${arrival.attempt}`;
  if (arrival.seat) return { do: 'connect', key: `${key} connect`, waitMs: () => 0, firm: false, seat: arrival.seat };
  return { do: 'takeSeat', key: `${key} seat`, waitMs: patience(arrival), firm: arrival.pauseMs > 0, arrival };
}

function patience(attempt: { attempt: number; pauseMs: number }): Task['waitMs'] {
  return (random) => Math.max(attempt.pauseMs, backoff(attempt.attempt, random));
}

/** The server said how long this holds, and nothing may shorten it. */
export function isTimed({ code }: Refusal): boolean {
  return code === 'too_many_attempts' || code === 'turned_away';
}

/**
 * How often a page that says no asks again by itself; Infinity only when the
 * visitor presses the button, null when nothing can change it.
 */
function quietPoll(refusal: Refusal): Task['waitMs'] | null {
  switch (refusal.code) {
    case 'room_full':
    case 'room_not_open':
      return (random) => Math.max(refusal.waitMs, 8_000 + 4_000 * random());
    case 'too_many_attempts':
    case 'turned_away':
      return () => refusal.waitMs;
    case 'project_inactive':
    case 'project_suspended':
    case 'room_not_found':
    case 'invitation_required':
    case 'removed':
    case 'waiting_room_full':
      return () => Infinity;
    default:
      return null;
  }
}
