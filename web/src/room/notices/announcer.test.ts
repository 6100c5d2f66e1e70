import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { Announcer } from './announcer';
import { describePresenceChanges } from './presenceChanges';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

test('twenty people who join within three seconds are announced twice, and both are read', async () => {
  let people: { identity: string; name: string }[] = [];
  let announced = people;
  const shown: { text: string; at: number }[] = [];
  const announcer = new Announcer(
    () => {
      const text = describePresenceChanges(announced, people) ?? '';
      announced = people;
      return text;
    },
    (text) => shown.push({ text: text.trim(), at: Date.now() }),
  );
  for (let i = 1; i <= 20; i++) {
    people = [...people, { identity: `${i}`, name: `Person ${i}` }];
    announcer.update();
    await vi.advanceTimersByTimeAsync(70);
  }
  await vi.advanceTimersByTimeAsync(10_000);
  expect(shown.map(({ text }) => text)).toEqual(['Person 1 joined.', '19 people joined.']);
  expect((shown[1]?.at ?? 0) - (shown[0]?.at ?? 0)).toBeGreaterThanOrEqual(1_500);
});

test('the same text twice changes the live region twice', async () => {
  const shown: string[] = [];
  let text = 'Microphone off.';
  const announcer = new Announcer(
    () => {
      const now = text;
      text = '';
      return now;
    },
    (now) => shown.push(now),
  );
  announcer.update();
  await vi.advanceTimersByTimeAsync(5_000);
  text = 'Microphone off.';
  announcer.update();
  expect(new Set(shown).size).toBe(2);
  expect(shown.map((now) => now.trim())).toEqual(['Microphone off.', 'Microphone off.']);
});

test('what happens within the time of a batch is announced together', async () => {
  const shown: string[] = [];
  let items: string[] = [];
  const announcer = new Announcer(
    () => items.splice(0).join(', '),
    (text) => shown.push(text.trim()),
    3_000,
  );
  const happen = (item: string): void => {
    items.push(item);
    announcer.update();
  };
  happen('a');
  await vi.advanceTimersByTimeAsync(2_900);
  happen('b');
  expect(shown).toEqual([]);
  await vi.advanceTimersByTimeAsync(100);
  expect(shown).toEqual(['a, b']);
  // The next batch has begun.
  happen('c');
  await vi.advanceTimersByTimeAsync(2_900);
  happen('d');
  expect(shown).toHaveLength(1);
  await vi.advanceTimersByTimeAsync(100);
  expect(shown).toEqual(['a, b', 'c, d']);
  await vi.advanceTimersByTimeAsync(10_000);
  // Nothing is being read, and the first item of a batch waits for more.
  happen('e');
  await vi.advanceTimersByTimeAsync(2_900);
  expect(shown).toHaveLength(2);
  await vi.advanceTimersByTimeAsync(100);
  expect(shown).toEqual(['a, b', 'c, d', 'e']);
  // What needs no announcement any more at the end of the batch is not announced.
  await vi.advanceTimersByTimeAsync(10_000);
  happen('f');
  items = [];
  await vi.advanceTimersByTimeAsync(10_000);
  expect(shown).toHaveLength(3);
});

test('a long text is read to its end before the next batch is announced', async () => {
  const shown: string[] = [];
  const items = ['x'.repeat(100)];
  const announcer = new Announcer(
    () => items.splice(0).join(', '),
    (text) => shown.push(text.trim()),
    1_500,
  );
  announcer.update();
  await vi.advanceTimersByTimeAsync(1_500);
  items.push('a');
  announcer.update();
  await vi.advanceTimersByTimeAsync(5_900);
  expect(shown).toHaveLength(1);
  await vi.advanceTimersByTimeAsync(100);
  expect(shown.at(-1)).toBe('a');
});
