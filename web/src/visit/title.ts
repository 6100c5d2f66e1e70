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
