import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { newlyRaised, raisedHands } from './hands';
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

  test('is shown for some seconds; only the latest of each person', () => {
    const reactions = new Reactions();
    const shown = (): string[] => [...reactions.get()].map(([identity, { reaction }]) => `${identity} ${reaction}`);
    reactions.show('ana', 'heart');
    vi.advanceTimersByTime(2_000);
    reactions.show('ana', 'clapping');
    reactions.show('ben', 'heart');
    vi.advanceTimersByTime(3_000);
    expect(shown()).toEqual(['ana clapping', 'ben heart']);
    vi.advanceTimersByTime(1_000);
    expect(shown()).toEqual([]);
  });
});
