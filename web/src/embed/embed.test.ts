import { afterEach, expect, test, vi } from 'vitest';
import { Store } from '../lib/store';
import type { Snapshot } from '../visit/runner';
import { after, inside, lobby, preview, refusal, returning, seat } from '../visit/sample';
import { opening, type Visit } from '../visit/state';
import { tellAround } from '.';
import { newsOf } from './news';
import { originAround } from './origin';

afterEach(() => vi.unstubAllGlobals());

const left = after(inside, { type: 'leave' });
const back = after(left, { type: 'comeBack' }, { type: 'seated', seat }, { type: 'connected' });
const over = refusal('room_ended', { reason: 'host' });

test.each<[string, Visit, Visit, object | null]>([
  ['coming in', lobby, inside, { type: 'joined' }],
  ['a lost connection', inside, returning, null],
  ['and its return', returning, after(returning, { type: 'seated', seat }, { type: 'connected' }), null],
  ['leaving', inside, left, { type: 'left', reason: 'left' }],
  ['coming back', left, back, { type: 'joined' }],
  ['another tab', inside, after(inside, { type: 'dropped', loss: 'elsewhere' }), { type: 'left', reason: 'elsewhere' }],
  ['being removed', inside, after(inside, { type: 'dropped', loss: 'removed' }), { type: 'left', reason: 'removed' }],
  ['losing the seat', returning, after(returning, refusal('room_full')), { type: 'left', reason: 'refused' }],
  ['the end', returning, after(returning, over), { type: 'ended', reason: 'host' }],
  ['the end after leaving', left, after(left, { type: 'comeBack' }, over), { type: 'ended', reason: 'host' }],
  ['a room that was over', opening, after(opening, over), { type: 'ended', reason: 'host' }],
  ['asking an ended room again', after(opening, over), after(opening, over, over), null],
  ['a full room', lobby, after(lobby, { type: 'join', name: 'Ben' }, refusal('room_full')), null],
  ['the first view', opening, lobby, null],
])('news: %s', (_, before, now, news) => expect(newsOf(before, now)).toEqual(news));

test.each([
  [['https://a.example:8443', 'https://top.example'], 'https://other.example/', 'https://a.example:8443'],
  [undefined, 'https://a.example/lesson?id=1', 'https://a.example'],
  [undefined, '', null],
  [['null'], 'https://a.example/', null],
  [undefined, 'about:blank', null],
  [['file://'], '', null],
] as const)('%s and "%s" is %s', (ancestors, referrer, origin) => {
  const ancestorOrigins = ancestors as unknown as DOMStringList | undefined;
  expect(originAround({ ...(ancestorOrigins && { ancestorOrigins }) }, referrer)).toBe(origin);
});

test('each news is told once, to that origin, with nothing that is not meant for it', () => {
  const postMessage = vi.fn();
  vi.stubGlobal('parent', { postMessage });
  vi.stubGlobal('document', { referrer: '' });
  vi.stubGlobal('location', { ancestorOrigins: ['https://a.example'] });
  const visits = new Store<Snapshot>({ visit: opening, inside: null, asking: false });
  tellAround(visits, 'room-1');
  const steps = [lobby, inside, returning, inside, left, left, after(left, { type: 'comeBack' }, over)];
  for (const visit of steps) for (const asking of [true, false]) visits.set({ visit, inside: null, asking });
  expect(postMessage.mock.calls).toEqual([
    [{ source: 'parley', type: 'joined', room_id: 'room-1' }, 'https://a.example'],
    [{ source: 'parley', type: 'left', room_id: 'room-1', reason: 'left' }, 'https://a.example'],
    [{ source: 'parley', type: 'ended', room_id: 'room-1', reason: 'host' }, 'https://a.example'],
  ]);
});

test('who does not say where they are is told nothing', () => {
  const postMessage = vi.fn();
  vi.stubGlobal('parent', { postMessage });
  vi.stubGlobal('document', { referrer: '' });
  vi.stubGlobal('location', {});
  const visits = new Store<Snapshot>({ visit: inside, inside: null, asking: false });
  tellAround(visits, 'room-1');
  visits.set({ visit: after(opening, { type: 'previewed', preview: preview() }), inside: null, asking: false });
  expect(postMessage).not.toHaveBeenCalled();
});
