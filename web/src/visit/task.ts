import type { Refusal, Seat } from '../api/client';
import { backoff } from '../lib/backoff';
import type { Arrival, Visit } from './state';

/** What the page has to do in this state, and how long it waits before. */
export type Task = { key: string; waitMs: (random: () => number) => number } & (
  | { do: 'preview' }
  | { do: 'takeSeat'; arrival: Arrival }
  | { do: 'connect'; seat: Seat }
);

/** The state alone decides what is under way; null when it waits for the visitor. */
export function taskOf(visit: Visit): Task | null {
  switch (visit.at) {
    case 'opening':
      return preview(`opening ${visit.attempt}`, patience(visit));
    case 'refused': {
      const quiet = quietPoll(visit.refusal);
      return quiet === null ? null : preview(`refused ${visit.refusal.code} ${visit.polls}`, quiet);
    }
    case 'lobby':
    case 'away':
      return visit.arrival && arrivalTask(visit.at, visit.arrival);
    case 'room':
      if (visit.link.is === 'returning') return arrivalTask('returning', visit.link.arrival);
      if (visit.link.is === 'asking') return preview(`asking ${visit.link.attempt}`, patience(visit.link));
      return null;
    case 'wrongLink':
    case 'removed':
      return null;
  }
}

function preview(key: string, waitMs: Task['waitMs']): Task {
  return { do: 'preview', key, waitMs };
}

function arrivalTask(where: string, arrival: Arrival): Task {
  const key = `${where} ${arrival.attempt}`;
  if (arrival.seat) return { do: 'connect', key: `${key} connect`, waitMs: () => 0, seat: arrival.seat };
  return { do: 'takeSeat', key: `${key} seat`, waitMs: patience(arrival), arrival };
}

function patience(attempt: { attempt: number; pauseMs: number }): Task['waitMs'] {
  return (random) => Math.max(attempt.pauseMs, backoff(attempt.attempt, random));
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
      return () => refusal.waitMs;
    case 'project_inactive':
    case 'project_suspended':
    case 'room_not_found':
      return () => Infinity;
    default:
      return null;
  }
}
