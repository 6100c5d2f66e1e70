import type { Visit } from './state';

/** The room's title, as far as it is known. */
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
