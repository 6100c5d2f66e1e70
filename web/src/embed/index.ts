import type { Runner } from '../visit/runner';
import { opening } from '../visit/state';
import { embedEventOf } from './event';
import { parentOrigin } from './origin';

/** Sends the events of the visit to the page that embeds this one. */
export function notifyParent(visits: Runner['store'], roomId: string): void {
  const origin = parentOrigin(location, document.referrer);
  if (origin === null) return;
  let before = opening;
  const notify = (): void => {
    const { visit } = visits.get();
    const event = embedEventOf(before, visit);
    before = visit;
    if (event) parent.postMessage({ source: 'parley', room_id: roomId, ...event }, origin);
  };
  visits.subscribe(notify);
  notify();
}
