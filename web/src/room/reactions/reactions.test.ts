import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { handsElsewhere, newlyRaised, raisedHands, updateRaisedAt } from './hands';
import { Reactions } from './reactions';

const [ana, ben, chen] = ['Ana', 'Ben', 'Chen'].map((name) => ({ identity: name.toLowerCase(), name, you: name === 'Ana' })) as [
  Named,
  Named,
  Named,
];
type Named = { identity: string; name: string; you: boolean };

describe('raised hands', () => {
  test('are those of present people, in the server’s order', () => {
    expect(raisedHands(['chen', 'gone', 'ana'], [ana, ben, chen])).toEqual([chen, ana]);
    expect(raisedHands([], [ana])).toEqual([]);
  });

  test('are announced when they are those of others', () => {
    expect(newlyRaised([chen], [chen, ben, ana])).toEqual([ben]);
    expect(newlyRaised([chen], [])).toEqual([]);
  });
});

describe('a reaction', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  test('is shown for some seconds, and quick repetitions are counted', () => {
    const reactions = new Reactions();
    const shown = (): string[] =>
      [...reactions.get()].flatMap(([identity, all]) => all.map(({ reaction, count }) => `${identity} ${reaction} ${count}`));
    reactions.show('ana', 'heart');
    vi.advanceTimersByTime(2_000);
    reactions.show('ana', 'clapping');
    reactions.show('ana', 'heart');
    reactions.show('ben', 'heart');
    vi.advanceTimersByTime(3_000);
    expect(shown()).toEqual(['ana heart 2', 'ana clapping 1', 'ben heart 1']);
    vi.advanceTimersByTime(1_000);
    expect(shown()).toEqual([]);
    reactions.show('ana', 'heart');
    expect(shown()).toEqual(['ana heart 1']);
  });
});

test('the time of raising is known, unless the hand was raised before the page was loaded', () => {
  const first = updateRaisedAt(null, [ana], 1_000);
  const second = updateRaisedAt(first, [ana, ben], 2_000);
  expect([...updateRaisedAt(second, [ben, ana], 3_000)]).toEqual([
    ['ben', 2_000],
    ['ana', null],
  ]);
  expect([...updateRaisedAt(updateRaisedAt(second, [ben], 3_000), [ben, ana], 4_000)]).toEqual([
    ['ben', 2_000],
    ['ana', 4_000],
  ]);
});

test('hosts see the hands of the other rooms, in the order of raising, with the name of the room', () => {
  const rooms = [
    { number: 0, name: 'Main room' },
    { number: 1, name: 'Red' },
    { number: 2, name: 'Blue' },
  ];
  const people = [
    { identity: '1', name: 'Ana', breakout: 1, hand: 7 },
    { identity: '2', name: 'Ana', breakout: 0, hand: 3 },
    { identity: '3', name: 'Ben', breakout: 2 },
    { identity: '4', name: 'Chen', breakout: 2, hand: 5 },
    { identity: '5', name: 'Dora', breakout: 9, hand: 6 },
  ];
  expect(handsElsewhere(people, 2, rooms)).toEqual([
    { identity: '2', name: 'Ana (2)', roomName: 'Main room', roomNumber: 0, you: false },
    { identity: '1', name: 'Ana', roomName: 'Red', roomNumber: 1, you: false },
  ]);
});
