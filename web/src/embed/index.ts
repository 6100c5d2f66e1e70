import type { Runner } from '../visit/runner';
import { opening } from '../visit/state';
import { newsOf } from './news';
import { originAround } from './origin';

/** Tells the page around this frame how the visit goes. */
export function tellAround(visits: Runner['store'], roomId: string): void {
  const origin = originAround(location, document.referrer);
  if (origin === null) return;
  let before = opening;
  const tell = (): void => {
    const { visit } = visits.get();
    const news = newsOf(before, visit);
    before = visit;
    if (news) parent.postMessage({ source: 'parley', room_id: roomId, ...news }, origin);
  };
  visits.watch(tell);
  tell();
}
