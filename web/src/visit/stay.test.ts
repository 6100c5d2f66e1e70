import { expect, test } from 'vitest';
import { applyEvents, inside, lobby, preview, refused } from './fixtures';
import { reduce } from './reduce';
import { opening } from './state';
import { Stay } from './stay';

const minute = 60_000;

function memory(): { get: (key: string) => string | null; set: (key: string, value: string) => void } {
  const values = new Map<string, string>();
  return { get: (key) => values.get(key) ?? null, set: (key, value) => void values.set(key, value) };
}

test('a tab remembers a room until it leaves', () => {
  const storage = memory();
  const stay = new Stay(storage, 'room');
  stay.onVisit(lobby);
  expect(stay.joinedAt()).toBeNull();
  stay.onVisit(inside);
  expect(new Stay(storage, 'room').joinedAt()).toBe(3 * minute);
  expect(new Stay(storage, 'other').joinedAt()).toBeNull();
  for (const end of [applyEvents(inside, { type: 'leave' }), applyEvents(inside, { type: 'disconnected', cause: 'removed' })]) {
    stay.onVisit(inside);
    stay.onVisit(end);
    expect(stay.joinedAt()).toBeNull();
  }
  storage.set('parley.stay.room', 'nonsense');
  expect(stay.joinedAt()).toBeNull();
});

const returning = preview({ you: { role: 'guest', name: 'Ben', returning: true } });
const reloaded = reduce(opening, { type: 'previewed', preview: returning, joinedAt: minute }, 10 * minute);

test('a reloaded page offers to rejoin, and the time counts from the first entry', () => {
  expect(reloaded).toMatchObject({ at: 'lobby', notice: 'rejoin', joinedAt: minute });
  const seated = applyEvents(
    reloaded,
    { type: 'join', name: 'Ben' },
    { type: 'seated', seat: inside.at === 'room' ? inside.seat : never() },
  );
  const back = reduce(seated, { type: 'connected' }, 11 * minute);
  expect(reduce(back, { type: 'leave' }, 21 * minute)).toMatchObject({ durationMs: 20 * minute });
});

test('a reloaded page of a visitor who has to be admitted again does not offer to rejoin', () => {
  const waits = preview({ you: { role: 'guest', name: 'Ben', returning: true, waits: true } });
  const visit = reduce(opening, { type: 'previewed', preview: waits, joinedAt: minute }, 10 * minute);
  expect(visit).toMatchObject({ at: 'lobby', notice: null, joinedAt: minute });
  // A host turns the waiting room on after the page was reloaded.
  expect(applyEvents(reloaded, { type: 'previewed', preview: returning })).toMatchObject({ at: 'lobby', notice: 'rejoin' });
  expect(applyEvents(reloaded, { type: 'previewed', preview: waits })).toMatchObject({ at: 'lobby', notice: null, joinedAt: minute });
});

test('a visitor whose seat is gone joins anew', () => {
  expect(reduce(opening, { type: 'previewed', preview: preview(), joinedAt: minute }, 10 * minute)).toMatchObject({
    at: 'lobby',
    notice: null,
    joinedAt: null,
  });
});

test('the time in another tab counts, and the time outside the room does not', () => {
  const rejoinLater = (visit: typeof inside): typeof inside => {
    const seat = inside.at === 'room' ? inside.seat : never();
    return reduce(applyEvents(visit, { type: 'rejoin' }, { type: 'seated', seat }), { type: 'connected' }, 13 * minute);
  };
  const elsewhere = rejoinLater(reduce(inside, { type: 'disconnected', cause: 'elsewhere' }, 8 * minute));
  expect(reduce(elsewhere, { type: 'leave' }, 14 * minute)).toMatchObject({ durationMs: 11 * minute });
  const left = rejoinLater(reduce(inside, { type: 'leave' }, 8 * minute));
  expect(reduce(left, { type: 'leave' }, 14 * minute)).toMatchObject({ durationMs: 6 * minute });
});

test('a refused visitor has nothing to rejoin', () => {
  expect(applyEvents(reloaded, { type: 'join', name: 'Ben' }, refused('room_full'))).toMatchObject({ at: 'refused', durationMs: null });
});

function never(): never {
  throw new Error('the fixture is in the room');
}
