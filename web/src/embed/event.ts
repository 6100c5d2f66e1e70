import type { EndReason } from '../api/client';
import type { Visit } from '../visit/state';

/** What the site around the page is told: of this visitor, and of nobody else. */
export type EmbedEvent =
  /** Is in the room. Coming back from a lost connection and breakout rooms are no news. */
  | { type: 'joined' }
  /** Is not in the room any more, and the room may go on. */
  | { type: 'left'; reason: 'left' | 'elsewhere' | 'limited' | 'removed' | 'refused' }
  /** The room is over, whether or not the visitor was in. */
  | { type: 'ended'; reason: EndReason | null };

/** What has come about between two moments of the visit. Of who joined, either left or ended is told. */
export function embedEventOf(before: Visit, after: Visit): EmbedEvent | null {
  if (after.at === 'room') return before.at === 'room' ? null : { type: 'joined' };
  if (isOver(after)) return isOver(before) ? null : { type: 'ended', reason: after.refusal.reason };
  if (before.at !== 'room') return null;
  return { type: 'left', reason: after.at === 'left' ? after.reason : after.at === 'removed' ? 'removed' : 'refused' };
}

function isOver(visit: Visit): visit is Extract<Visit, { at: 'refused' }> {
  return visit.at === 'refused' && visit.refusal.code === 'room_ended';
}
