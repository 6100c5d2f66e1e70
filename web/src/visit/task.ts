import { type CallError, requestTimeoutMs, type Seat } from '../api/client';
import { backoff } from '../time/backoff';
import { pollDelayBeforeStart, startOf } from './schedule';
import { type JoinAttempt, type Visit, waitsForSeat } from './state';

/** Milliseconds after which the first view of an open room asks again who is there. The pages of a class do not ask at once. */
const lobbyPollMs = 10_000;

/** A task of the page in a state, and the delay before it. */
export type Task = {
  key: string;
  /** `now` is the server's time. */
  waitMs: (random: () => number, now: number) => number;
  /** The server has set the delay, so that nothing may shorten it. */
  fixedDelay: boolean;
} & (
  | { do: 'preview' }
  /**
   * `previewFirst`: ask for a preview first, because the visitor may have joined on another device or may have to wait
   * for a host.
   * `timeoutMs` is how long the server may take until it responds.
   */
  | { do: 'reserveSeat'; joinAttempt: JoinAttempt; previewFirst: boolean; timeoutMs: number }
  | { do: 'connect'; seat: Seat; timeoutMs: number }
);

/** Returns the task of a state; null when the page waits for the visitor. */
export function taskOf(visit: Visit): Task | null {
  switch (visit.at) {
    case 'opening':
      return preview(`opening ${visit.attempt}`, retryDelay(visit), visit.pauseMs > 0);
    case 'refused': {
      const { error, polls } = visit;
      const delay = pollDelay(error, polls);
      const fixedDelay = hasFixedDelay(error) || (error.code === 'room_full' && error.waitMs > 0);
      return delay && preview(`refused ${error.code} ${polls}`, delay, fixedDelay);
    }
    case 'lobby': {
      if (visit.joinAttempt) return joinTask('lobby', visit.joinAttempt, false);
      const { polls, pauseMs } = visit;
      const start = startOf(visit.preview);
      const delay: Task['waitMs'] = waitsForSeat(visit)
        ? (random) => seatDelay(polls, random)
        : start === null
          ? (random) => lobbyPollMs + 2_000 * (2 * random() - 1)
          : (random, now) => pollDelayBeforeStart(start, now, random);
      return preview(`waiting ${polls}`, (random, now) => Math.max(pauseMs, delay(random, now)), pauseMs > 0);
    }
    case 'left':
      return visit.joinAttempt && joinTask('left', visit.joinAttempt, true);
    case 'room':
      if (visit.connection.is === 'rejoining') {
        const { joinAttempt, moving } = visit.connection;
        // A visitor who moves to another breakout room is still connected.
        return joinTask('rejoining', joinAttempt, !moving || joinAttempt.attempt > 0);
      }
      if (visit.connection.is === 'checking')
        return preview(`checking ${visit.connection.attempt}`, retryDelay(visit.connection), visit.connection.pauseMs > 0);
      return null;
    case 'removed':
      // Once immediately, to find out whether a host or a lack of seats was the reason;
      // then only by the button.
      return preview(`removed ${visit.polls}`, () => (visit.polls === 0 ? 0 : Infinity), false);
    case 'wrongLink':
    case 'alreadyJoined':
      return null;
  }
}

function preview(key: string, waitMs: Task['waitMs'], fixedDelay: boolean): Task {
  return { do: 'preview', key, waitMs, fixedDelay };
}

function joinTask(where: 'lobby' | 'left' | 'rejoining', joinAttempt: JoinAttempt, previewFirst: boolean): Task {
  const timeoutMs = where === 'rejoining' ? rejoinTimeoutMs(joinAttempt.attempt) : requestTimeoutMs;
  const key = `${where} ${joinAttempt.knocks} ${joinAttempt.attempt}`;
  if (joinAttempt.seat)
    return { do: 'connect', key: `${key} connect`, waitMs: () => 0, fixedDelay: false, seat: joinAttempt.seat, timeoutMs };
  // A waiting visitor who returns to the page should not wait for a delayed timer.
  const isWaiting = joinAttempt.knocks > 0 && joinAttempt.attempt === 0;
  const fixedDelay = joinAttempt.pauseMs > 0 && !isWaiting;
  return { do: 'reserveSeat', key: `${key} seat`, waitMs: retryDelay(joinAttempt), fixedDelay, joinAttempt, previewFirst, timeoutMs };
}

/**
 * Returns how long the server may take while a visitor comes back. It has responded before, so that
 * silence means a node that stands still, and another attempt may reach another node. Each attempt waits
 * longer, for a server or a network that is slow.
 */
function rejoinTimeoutMs(attempt: number): number {
  return Math.min(requestTimeoutMs, 2_500 * 1.3 ** attempt);
}

function retryDelay(attempt: { attempt: number; pauseMs: number }): Task['waitMs'] {
  return (random) => Math.max(attempt.pauseMs, backoff(attempt.attempt, random));
}

/** The server has set how long the error lasts. */
export function hasFixedDelay({ code }: CallError): boolean {
  return code === 'too_many_attempts' || code === 'turned_away';
}

/** Returns the delay until a page asks again for a free seat, which is taken soon. After some minutes it asks less often. */
function seatDelay(polls: number, random: () => number): number {
  return (polls < 200 ? 1_000 : 4_000) * (1 + random());
}

/** Returns the delay until a refused page asks again; Infinity means only by the button, null means never. */
function pollDelay(error: CallError, polls: number): Task['waitMs'] | null {
  switch (error.code) {
    case 'room_full':
      return (random) => Math.max(error.waitMs, seatDelay(polls, random));
    case 'room_not_open':
      return (random) => Math.max(error.waitMs, 8_000 + 4_000 * random());
    case 'too_many_attempts':
    case 'turned_away':
      return () => error.waitMs;
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
