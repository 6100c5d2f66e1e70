import type { Visit } from './state';

/** Returns the room's title, if it is known. */
export function titleOf(visit: Visit): string | null {
  switch (visit.at) {
    case 'lobby':
    case 'wrongLink':
    case 'alreadyJoined':
      return visit.preview.title;
    case 'room':
    case 'left':
      return visit.seat.title;
    case 'removed':
    case 'refused':
      return visit.title;
    case 'opening':
      return null;
  }
}

/** Returns what a visitor has waited for and can do now, so that the tab says it, too; null if there is nothing. */
export function endedWait(visit: Visit): 'free' | 'open' | null {
  if (visit.at !== 'lobby' || visit.joinAttempt) return null;
  return visit.notice === 'free' || visit.notice === 'open' ? visit.notice : null;
}
