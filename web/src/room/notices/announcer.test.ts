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
