import type { Participant } from 'livekit-client';
import { describe, expect, test } from 'vitest';
import type { Person } from '../people/person';
import type { RosterEntry } from '../people/roster';
import { type ActiveSpeaker, noActiveSpeaker, updateActiveSpeaker } from './activeSpeaker';
import { besideStrip, type Frame, gridFrames, largeFrames, stripFrames, stripOf } from './frames';
import { selectLarge } from './selectLarge';
import { selectVisible } from './visible';

describe('the large tiles', () => {
  const stage = { present: new Set(['a', 'b', 'c', 'b/screen']), pinned: [], screens: [], speakerView: false, speaker: 'a' };

  test('are none when all tiles have the same size', () => {
    expect(selectLarge(stage)).toEqual([]);
    expect(selectLarge({ ...stage, speakerView: true, speaker: null })).toEqual([]);
  });

  test('are the active speaker in speaker view', () => {
    expect(selectLarge({ ...stage, speakerView: true })).toEqual(['a']);
    expect(selectLarge({ ...stage, speakerView: true, speaker: 'gone' })).toEqual([]);
  });

  test('are the screens before the active speaker, in both views', () => {
    expect(selectLarge({ ...stage, screens: ['b/screen'] })).toEqual(['b/screen']);
    expect(selectLarge({ ...stage, speakerView: true, screens: ['b/screen'] })).toEqual(['b/screen']);
  });

  test('are the present pins before all else, in the order of pinning', () => {
    expect(selectLarge({ ...stage, speakerView: true, screens: ['b/screen'], pinned: ['c', 'gone', 'b'] })).toEqual(['c', 'b']);
    expect(selectLarge({ ...stage, screens: ['b/screen'], pinned: ['gone'] })).toEqual(['b/screen']);
  });
});

describe('the active speaker', () => {
  /** Runs the updates of ten times a second while these people speak, the loudest first. */
  function speak(activeSpeaker: ActiveSpeaker, speaking: string[], from: number, to: number, present = ['a', 'b', 'c']): ActiveSpeaker {
    for (let now = from; now <= to; now += 100) activeSpeaker = updateActiveSpeaker(activeSpeaker, present, speaking, now);
    return activeSpeaker;
  }
  const first = speak(noActiveSpeaker, [], 0, 0);

  test('is the first person until somebody speaks, and nobody in an empty room', () => {
    expect(first.identity).toBe('a');
    expect(updateActiveSpeaker(noActiveSpeaker, [], ['you'], 0).identity).toBeNull();
  });

  test('changes to a person who speaks for long enough, and stays when they stop', () => {
    const spoken = speak(first, ['b'], 3_000, 4_500);
    expect(spoken.identity).toBe('b');
    expect(speak(spoken, [], 4_600, 60_000).identity).toBe('b');
  });

  test('does not change at single or repeated coughs', () => {
    let activeSpeaker = first;
    for (let now = 5_000; now < 30_000; now += 3_000)
      activeSpeaker = speak(speak(activeSpeaker, ['b'], now, now + 800), [], now + 900, now + 2_900);
    expect(activeSpeaker.identity).toBe('a');
  });

  test('changes to a person who speaks with short pauses', () => {
    let activeSpeaker = first;
    for (let now = 5_000; now < 8_000; now += 1_000)
      activeSpeaker = speak(speak(activeSpeaker, ['b'], now, now + 300), [], now + 400, now + 900);
    expect(activeSpeaker.identity).toBe('b');
  });

  test('stays while they continue to speak, even when somebody else is louder', () => {
    const spoken = speak(first, ['b'], 3_000, 4_500);
    expect(speak(spoken, ['c', 'b'], 4_600, 20_000).identity).toBe('b');
    expect(speak(spoken, ['c'], 4_600, 20_000).identity).toBe('c');
  });

  test('stays for a minimum time', () => {
    const spoken = speak(first, ['b'], 3_000, 4_300);
    expect(spoken).toMatchObject({ identity: 'b', since: 4_200 });
    expect(speak(spoken, ['c'], 4_400, 6_600).identity).toBe('b');
    expect(speak(spoken, ['c'], 4_400, 6_800).identity).toBe('c');
  });

  test('changes to the person who spoke last when they leave', () => {
    const spoken = speak(speak(first, ['c'], 3_000, 4_500), ['b'], 10_000, 14_000);
    expect(spoken.identity).toBe('b');
    expect(updateActiveSpeaker(spoken, ['a', 'c'], [], 15_000).identity).toBe('c');
  });
});

describe('the visible people', () => {
  const people = ['you', 'a', 'b'].map(
    (identity): RosterEntry<Person> => ({
      person: { identity, name: identity, role: 'guest', you: identity === 'you', muted: false, participant: {} as Participant },
      disconnectedAt: null,
    }),
  );
  const shown = (hideSelf: boolean, hideWithoutVideo: boolean, seen: string[] = [], large: string[] = [], among = people): string => {
    const { visible, hiddenCount } = selectVisible(among, { hideSelf, hideWithoutVideo, withVideo: new Set(seen), large });
    return [...visible.map(({ person }) => person.identity), ...(hiddenCount ? [`+${hiddenCount}`] : [])].join(' ');
  };

  test('are everybody, or everybody but the visitor', () => {
    expect(shown(false, false)).toBe('you a b');
    expect(shown(true, false)).toBe('a b');
  });

  test('are the people with video and the large ones; the others are counted', () => {
    expect(shown(false, true, ['b'])).toBe('you b +1');
    expect(shown(true, true, ['b'], ['a'])).toBe('a b');
  });

  test('are never empty', () => {
    expect(shown(true, true)).toBe('a b');
    expect(shown(true, true, [], [], people.slice(0, 1))).toBe('you');
  });
});

describe('the frames', () => {
  const overlap = (a: Frame, b: Frame): boolean =>
    a.x < b.x + b.width && b.x < a.x + a.width && a.y < b.y + b.height && b.y < a.y + a.height;
  const spaces = [
    { width: 1240, height: 640 },
    { width: 358, height: 640 },
    { width: 740, height: 330 },
  ];

  test.each(spaces)('never overlap or leave the stage: $width by $height', (space) => {
    const strip = stripOf(space);
    for (let large = 1; large <= 4; large++) {
      for (let small = 0; small <= strip.capacity; small++) {
        const frames = [...largeFrames(large, small > 0 ? besideStrip(space, strip) : space, false), ...stripFrames(small, space, strip)];
        expect(frames).toHaveLength(large + small);
        frames.forEach((frame, i) => {
          expect(Math.min(frame.x, frame.y)).toBeGreaterThanOrEqual(0);
          expect(frame.x + frame.width).toBeLessThanOrEqual(space.width);
          expect(frame.y + frame.height).toBeLessThanOrEqual(space.height);
          expect(
            frames.slice(i + 1).some((other) => overlap(frame, other)),
            `${large} and ${small}`,
          ).toBe(false);
        });
      }
    }
  });

  test('of one size are centered, including the last row', () => {
    const [first, , last] = gridFrames(3, { width: 808, height: 608 }, 4 / 3);
    expect(first).toMatchObject({ x: 0, width: 400 });
    expect(last).toMatchObject({ x: 204, width: 400 });
  });

  test('give a screen the whole space, and a camera its ratio', () => {
    const [space] = spaces;
    if (!space) throw new Error('unreachable');
    expect(largeFrames(1, space, true)).toEqual([{ x: 0, y: 0, ...space }]);
    expect(largeFrames(1, space, false)).toEqual([{ x: 51, y: 0, width: 1137, height: 639 }]);
  });
});
