import { afterEach, expect, test, vi } from 'vitest';
import type { MediaState } from '../media/mediaState';
import { Store } from '../state/store';
import { applyEvents, inside, lobby, preview, refused, rejoining, seat } from '../visit/fixtures';
import type { Snapshot } from '../visit/runner';
import { type Event, opening, type Visit } from '../visit/state';
import { connectToParent } from '.';
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

const origin = 'https://a.example';

/** The room in a frame of a page of that origin, which has all devices unless it says otherwise. */
function embed(start: Visit, media: Partial<MediaState> = {}, ancestorOrigins = [origin]) {
  const postMessage = vi.fn();
  const parent = { postMessage };
  const listeners = new Map<string, (event: object) => void>();
  vi.stubGlobal('parent', parent);
  vi.stubGlobal('document', { referrer: '' });
  vi.stubGlobal('location', { ancestorOrigins });
  vi.stubGlobal('addEventListener', (type: string, listener: (event: object) => void) => {
    listeners.set(type, listener);
  });
  const visits = new Store<Snapshot>({ visit: start, joined: null, checking: false });
  const state = new Store({ ...devices, ...media });
  const peopleCount = new Store(0);
  const set = (part: Partial<MediaState>): void => state.set({ ...state.get(), ...part });
  const setVisit = (visit: Visit, checking = false): void => visits.set({ visit, joined: null, checking });
  const localMedia = {
    state,
    setMicOn: vi.fn(async (micOn: boolean) => set({ micOn })),
    setCameraOn: vi.fn(async (cameraOn: boolean) => set({ cameraOn, camera: cameraOn ? live : off })),
  };
  const dispatch = vi.fn((event: Event) => setVisit(applyEvents(visits.get().visit, event)));
  connectToParent({ runner: { store: visits, dispatch }, localMedia, peopleCount, roomId: 'room-1' });
  const messages = (): object[] => postMessage.mock.calls.map(([message]) => message);
  return {
    postMessage,
    messages,
    peopleCount,
    localMedia,
    set,
    setVisit,
    receive: (message: object) => listeners.get('message')?.({ source: parent, origin, ...message }),
    /** Hides this page or brings it back. */
    fire: (type: 'pagehide' | 'pageshow') => listeners.get(type)?.({}),
    /** Returns the reply to a command of the page. */
    async command(command: unknown, id: unknown = 7): Promise<unknown> {
      postMessage.mockClear();
      listeners.get('message')?.({ source: parent, origin, data: { source: 'parley-host', id, command } });
      await vi.waitFor(() => expect(messages()).toContainEqual(expect.objectContaining({ type: 'reply' })));
      return messages().find((message) => 'ok' in message);
    },
  };
}

const off = { is: 'off' } as const;
const live = { is: 'live', track: {} as MediaStreamTrack, interrupted: false, deviceId: '' } as const;
const devices = { video: true, allowed: { mic: true, camera: true }, mic: live, camera: live, micOn: true, cameraOn: true } as MediaState;

test('each event is sent once, only to the parent’s origin, without private data', () => {
  const { postMessage, setVisit } = embed(opening);
  const steps = [lobby, inside, rejoining, inside, left, left, applyEvents(left, { type: 'rejoin' }, over)];
  for (const visit of steps) for (const checking of [true, false]) setVisit(visit, checking);
  expect(postMessage.mock.calls).toEqual([
    [{ source: 'parley', type: 'joined', room_id: 'room-1' }, origin],
    [{ source: 'parley', type: 'mute', room_id: 'room-1', microphone: false, camera: false }, origin],
    [{ source: 'parley', type: 'left', room_id: 'room-1', reason: 'left' }, origin],
    [{ source: 'parley', type: 'ended', room_id: 'room-1', reason: 'host' }, origin],
  ]);
});

test('a page that is unloaded says once that the visitor left, and one that comes back that they joined', () => {
  const { messages, fire, set, setVisit } = embed(lobby);
  fire('pagehide');
  fire('pageshow');
  expect(messages()).toEqual([]);
  setVisit(inside);
  fire('pagehide');
  // The connection and the devices end with the page.
  set({ micOn: false });
  for (const visit of [rejoining, left]) setVisit(visit);
  fire('pagehide');
  setVisit(inside);
  fire('pageshow');
  fire('pageshow');
  const event = (type: string): object => expect.objectContaining({ type });
  expect(messages()).toEqual([
    event('joined'),
    event('mute'),
    { source: 'parley', type: 'left', room_id: 'room-1', reason: 'unloaded' },
    event('joined'),
    event('mute'),
  ]);
});

test('the number of people and what is muted are sent after joining and when they change', () => {
  const { messages, postMessage, peopleCount, set, setVisit } = embed(lobby, { micOn: false });
  const news = (): object[] => {
    const sent = messages();
    postMessage.mockClear();
    return sent;
  };
  const people = (count: number): object => ({ source: 'parley', room_id: 'room-1', type: 'people', count });
  const mute = (microphone: boolean, camera: boolean): object => ({
    source: 'parley',
    room_id: 'room-1',
    type: 'mute',
    microphone,
    camera,
  });
  expect(news()).toEqual([]);
  setVisit(inside);
  expect(news()).toEqual([{ source: 'parley', room_id: 'room-1', type: 'joined' }, mute(true, false)]);
  peopleCount.set(1);
  // The page counts anew when somebody comes.
  for (const count of [0, 2, 0, 2]) peopleCount.set(count);
  expect(news()).toEqual([people(1), people(2)]);
  set({ micOn: true });
  set({ mic: { is: 'requesting', live: true } });
  set({ mic: live });
  expect(news()).toEqual([mute(false, false)]);
  set({ allowed: { mic: true, camera: false }, camera: off });
  set({ mic: { is: 'failed', fault: 'busy' } });
  expect(news()).toEqual([mute(false, true), mute(true, true)]);
  setVisit(rejoining);
  expect(news()).toEqual([]);
  setVisit(left);
  peopleCount.set(0);
  set({ mic: off });
  expect(news()).toEqual([{ source: 'parley', room_id: 'room-1', type: 'left', reason: 'left' }]);
  setVisit(back);
  peopleCount.set(2);
  expect(news()).toEqual([{ source: 'parley', room_id: 'room-1', type: 'joined' }, mute(true, true), people(2)]);
});

test('commands do what the buttons do, and are replied to', async () => {
  const { command, localMedia, messages } = embed(inside);
  const done = { source: 'parley', type: 'reply', id: 7, ok: true };
  expect(await command('muteMicrophone')).toEqual(done);
  expect(messages()).toEqual([{ source: 'parley', room_id: 'room-1', type: 'mute', microphone: true, camera: false }, done]);
  expect(await command('unmuteMicrophone')).toEqual(done);
  expect(await command('muteCamera')).toEqual(done);
  expect(await command('unmuteCamera')).toEqual(done);
  expect(localMedia.setMicOn.mock.calls).toEqual([[false], [true]]);
  expect(localMedia.setCameraOn.mock.calls).toEqual([[false], [true]]);
  expect(await command('leave')).toEqual(done);
  expect(messages()).toEqual([{ source: 'parley', room_id: 'room-1', type: 'left', reason: 'left' }, done]);
  expect(await command('leave', 8)).toEqual({ ...done, id: 8, ok: false, error: 'The visitor is not in the room.' });
});

test.each<[string, Visit, Partial<MediaState>, string]>([
  ['unmuteMicrophone', lobby, {}, 'The visitor is not in the room.'],
  ['muteMicrophone', left, {}, 'The visitor is not in the room.'],
  ['toString', inside, {}, 'The room does not know this command.'],
  ['unmuteMicrophone', inside, { allowed: { mic: false, camera: true } }, 'The room does not allow this visitor to use the microphone.'],
  ['unmuteCamera', inside, { allowed: { mic: true, camera: false } }, 'The room does not allow this visitor to use the camera.'],
  ['unmuteCamera', inside, { video: false }, 'This room has no video.'],
  ['unmuteMicrophone', inside, { mic: { is: 'failed', fault: 'busy' } }, 'The microphone did not start.'],
])('%s is refused with a sentence', async (name, visit, media, error) => {
  const { command, localMedia } = embed(visit, media);
  expect(await command(name)).toEqual({ source: 'parley', type: 'reply', id: 7, ok: false, error });
  if (media.allowed) for (const call of [localMedia.setMicOn, localMedia.setCameraOn]) expect(call).not.toHaveBeenCalled();
});

test('devices can be turned off without a permission of the room', async () => {
  const done = { source: 'parley', type: 'reply', id: 7, ok: true };
  const forbidden = embed(inside, { allowed: { mic: false, camera: false }, mic: off, camera: off });
  expect(await forbidden.command('muteMicrophone')).toEqual(done);
  expect(await forbidden.command('muteCamera')).toEqual(done);
  const audioRoom = embed(inside, { video: false, camera: off });
  expect(await audioRoom.command('muteCamera')).toEqual(done);
  expect(audioRoom.localMedia.setCameraOn).not.toHaveBeenCalled();
});

test('a reply waits until the browser has opened the device', async () => {
  const { messages, receive, set } = embed(inside, { micOn: false, mic: { is: 'requesting', live: false } });
  const replies = (): object[] => messages().filter((message) => 'ok' in message);
  for (const [id, command] of ['unmuteMicrophone', 'unmuteMicrophone'].entries()) receive({ data: { source: 'parley-host', id, command } });
  await Promise.resolve();
  expect(replies()).toEqual([]);
  set({ mic: live });
  await vi.waitFor(() => expect(replies()).toHaveLength(2));
  expect(replies()).toEqual([0, 1].map((id) => ({ source: 'parley', type: 'reply', id, ok: true })));
  // The visitor mutes while the prompt of the browser is open.
  set({ mic: { is: 'requesting', live: false } });
  receive({ data: { source: 'parley-host', id: 2, command: 'unmuteMicrophone' } });
  await Promise.resolve();
  set({ micOn: false });
  set({ mic: live });
  await vi.waitFor(() => expect(replies()).toHaveLength(3));
  expect(replies()[2]).toEqual({ source: 'parley', type: 'reply', id: 2, ok: false, error: 'The microphone did not start.' });
});

test('only the parent of the known origin can give commands, and a reply needs a number', async () => {
  const { receive, localMedia, messages } = embed(inside);
  const data = { source: 'parley-host', id: 1, command: 'muteMicrophone' };
  for (const message of [
    { source: { postMessage: vi.fn() }, data },
    { source: null, data },
    { origin: 'https://b.example', data },
    { origin: 'null', data },
    { data: { ...data, source: 'parley' } },
    { data: { ...data, id: '1' } },
    { data: 'muteMicrophone' },
    { data: null },
  ]) {
    receive(message);
  }
  await Promise.resolve();
  expect(localMedia.setMicOn).not.toHaveBeenCalled();
  expect(messages().filter((message) => 'ok' in message)).toEqual([]);
});

test('a parent without a known origin receives nothing and gives no commands', () => {
  const { receive, localMedia, postMessage, setVisit } = embed(inside, {}, []);
  setVisit(applyEvents(opening, { type: 'previewed', preview: preview() }));
  setVisit(inside);
  receive({ data: { source: 'parley-host', id: 1, command: 'muteMicrophone' } });
  expect(localMedia.setMicOn).not.toHaveBeenCalled();
  expect(postMessage).not.toHaveBeenCalled();
});
