import type { Visit } from '../visit/state';
import type { EmbedEvent } from './protocol';

/**
 * Returns the event for a change of state, or null. Each `joined` is followed by exactly
 * one `left` or `ended`.
 */
export function embedEventOf(before: Visit, after: Visit): EmbedEvent | null {
  if (after.at === 'room') return before.at === 'room' ? null : { type: 'joined' };
  if (isOver(after)) return isOver(before) ? null : { type: 'ended', reason: after.error.reason };
  if (before.at !== 'room') return null;
  return { type: 'left', reason: after.at === 'left' ? after.reason : after.at === 'removed' ? 'removed' : 'refused' };
}

function isOver(visit: Visit): visit is Extract<Visit, { at: 'refused' }> {
  return visit.at === 'refused' && visit.error.code === 'room_ended';
}
