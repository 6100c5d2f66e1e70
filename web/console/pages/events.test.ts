import { expect, test } from 'vitest';
import { describeEvent } from './events';

test.each([
  ['room.ended', '', { end_reason: 'empty_timeout' }, 'The room ended: it was empty for too long'],
  ['room.ended', '', {}, 'The room ended'],
  ['participant.joined', 'Amina', { participant: { name: 'Amina', role: 'host' } }, 'Amina joined as host'],
  ['participant.left', 'Amina', { participant: { reason: 'removed' } }, 'Amina was removed'],
  ['participant.left', '', { participant: { reason: 'kicked_out' } }, 'Somebody left: kicked out'],
  ['participant.join_failed', '', { refusal: { name: 'Ben', code: 'room_full' } }, 'Ben could not join: room full'],
  ['host.muted_all', '', {}, 'host: muted all'],
])('%s of %j', (kind, name, data, text) => expect(describeEvent({ kind, name, data: data as never }).text).toBe(text));

test.each([
  ['host.muted', { target: { name: 'Ben' } }, 'Ada muted Ben'],
  ['host.muted', { target: { name: '' } }, 'Ada muted somebody'],
  ['host.removed', { by: { name: '', role: 'management' }, target: { name: 'Ben' } }, 'An operator or an integrator removed Ben'],
  ['host.changed_role', { target: { name: 'Ben' }, role: 'guest' }, 'Ada removed Ben as co-host'],
  ['host.changed_locks', { locks: { chat: true, camera: true } }, 'Ada locked the chat of guests, the cameras of guests'],
  [
    'host.changed_locks',
    { locks: { microphone: false, waiting_room: false } },
    'Ada unlocked the microphones of guests and turned the waiting room off',
  ],
  ['host.moved', { target: { name: 'Ben' }, breakout: 0 }, 'Ada moved Ben back to the main room'],
  ['host.admitted_all', { count: 1 }, 'Ada admitted 1 person from the waiting room'],
  ['host.waved', { by: { name: '', role: 'host' } }, 'A host waved'],
])('%s of %j', (kind, action, text) => {
  const all = { number: 1, by: { name: 'Ada', role: 'host', seat_id: 's' }, ...action };
  expect(describeEvent({ kind, name: '', data: {} as never, action: all as never }).text).toBe(text);
});
