import { afterEach, expect, test, vi } from 'vitest';
import { Store } from '../state/store';
import { applyEvents, inside, lobby, preview, refused, rejoining, seat } from '../visit/fixtures';
import type { Snapshot } from '../visit/runner';
import { opening, type Visit } from '../visit/state';
import { notifyParent } from '.';
import { embedEventOf } from './event';
import { parentOrigin } from './origin';

afterEach(() => vi.unstubAllGlobals());

const left = applyEvents(inside, { type: 'leave' });
const back = applyEvents(left, { type: 'rejoin' }, { type: 'seated', seat }, { type: 'connected' });
const over = refused('room_ended', { reason: 'host' });

test.each<[string, Visit, Visit, object | null]>([
  ['coming in', lobby, inside, { type: 'joined' }],
  ['a lost connection', inside, rejoining, null],
  ['and its return', rejoining, applyEvents(rejoining, { type: 'seated', seat }, { type: 'connected' }), null],
  ['leaving', inside, left, { type: 'left', reason: 'left' }],
  ['coming back', left, back, { type: 'joined' }],
  ['another tab', inside, applyEvents(inside, { type: 'disconnected', cause: 'elsewhere' }), { type: 'left', reason: 'elsewhere' }],
  ['being removed', inside, applyEvents(inside, { type: 'disconnected', cause: 'removed' }), { type: 'left', reason: 'removed' }],
  ['losing the seat', rejoining, applyEvents(rejoining, refused('room_full')), { type: 'left', reason: 'refused' }],
  ['the end', rejoining, applyEvents(rejoining, over), { type: 'ended', reason: 'host' }],
  ['the end after leaving', left, applyEvents(left, { type: 'rejoin' }, over), { type: 'ended', reason: 'host' }],
  ['a room that was over', opening, applyEvents(opening, over), { type: 'ended', reason: 'host' }],
  ['asking an ended room again', applyEvents(opening, over), applyEvents(opening, over, over), null],
  ['a full room', lobby, applyEvents(lobby, { type: 'join', name: 'Ben' }, refused('room_full')), null],
  ['the first view', opening, lobby, null],
])('news: %s', (_, before, now, news) => expect(embedEventOf(before, now)).toEqual(news));

test.each([
  [['https://a.example:8443', 'https://top.example'], 'https://other.example/', 'https://a.example:8443'],
  [undefined, 'https://a.example/lesson?id=1', 'https://a.example'],
  [undefined, '', null],
  [['null'], 'https://a.example/', null],
  [undefined, 'about:blank', null],
  [['file://'], '', null],
  [['capacitor://localhost'], '', 'capacitor://localhost'],
  [['chrome-extension://abc'], '', null],
] as const)('%s and "%s" is %s', (ancestors, referrer, origin) => {
  const ancestorOrigins = ancestors as unknown as DOMStringList | undefined;
  expect(parentOrigin({ ...(ancestorOrigins && { ancestorOrigins }) }, referrer)).toBe(origin);
});

test('each event is sent once, only to the parent’s origin, without private data', () => {
  const postMessage = vi.fn();
  vi.stubGlobal('parent', { postMessage });
  vi.stubGlobal('document', { referrer: '' });
  vi.stubGlobal('location', { ancestorOrigins: ['https://a.example'] });
  const visits = new Store<Snapshot>({ visit: opening, joined: null, checking: false });
  notifyParent(visits, 'room-1');
  const steps = [lobby, inside, rejoining, inside, left, left, applyEvents(left, { type: 'rejoin' }, over)];
  for (const visit of steps) for (const checking of [true, false]) visits.set({ visit, joined: null, checking });
  expect(postMessage.mock.calls).toEqual([
    [{ source: 'parley', type: 'joined', room_id: 'room-1' }, 'https://a.example'],
    [{ source: 'parley', type: 'left', room_id: 'room-1', reason: 'left' }, 'https://a.example'],
    [{ source: 'parley', type: 'ended', room_id: 'room-1', reason: 'host' }, 'https://a.example'],
  ]);
});

test('a parent without a known origin receives nothing', () => {
  const postMessage = vi.fn();
  vi.stubGlobal('parent', { postMessage });
  vi.stubGlobal('document', { referrer: '' });
  vi.stubGlobal('location', {});
  const visits = new Store<Snapshot>({ visit: inside, joined: null, checking: false });
  notifyParent(visits, 'room-1');
  visits.set({ visit: applyEvents(opening, { type: 'previewed', preview: preview() }), joined: null, checking: false });
  expect(postMessage).not.toHaveBeenCalled();
});
