import type { Participant } from 'livekit-client';
import { describe, expect, test } from 'vitest';
import type { Person } from '../person';
import type { Entry } from '../roll';
import { castOf } from './cast';
import { enlarged } from './enlarged';
import { emptyFloor, pass, type Floor } from './floor';
import { besides, gridFrames, largeFrames, stripFrames, stripOf, type Frame } from './frames';
import { read } from './volumes';

describe('what is large', () => {
  const stage = { present: new Set(['a', 'b', 'c', 'b/screen']), pinned: [], screens: [], speakerView: false, speaker: 'a' };

  test('is nothing, where all are of one size', () => {
    expect(enlarged(stage)).toEqual([]);
    expect(enlarged({ ...stage, speakerView: true, speaker: null })).toEqual([]);
  });

  test('is who speaks, in speaker view', () => {
    expect(enlarged({ ...stage, speakerView: true })).toEqual(['a']);
    expect(enlarged({ ...stage, speakerView: true, speaker: 'gone' })).toEqual([]);
  });

  test('is a screen before who speaks, in either view', () => {
    expect(enlarged({ ...stage, screens: ['b/screen'] })).toEqual(['b/screen']);
    expect(enlarged({ ...stage, speakerView: true, screens: ['b/screen'] })).toEqual(['b/screen']);
  });

  test('is what is pinned before all else, in the order of pinning, while it is there', () => {
    expect(enlarged({ ...stage, speakerView: true, screens: ['b/screen'], pinned: ['c', 'gone', 'b'] })).toEqual(['c', 'b']);
    expect(enlarged({ ...stage, screens: ['b/screen'], pinned: ['gone'] })).toEqual(['b/screen']);
  });
});

describe('the floor', () => {
  /** Lets people speak, the loudest first, for so long, looked at ten times a second. */
  function speak(floor: Floor, speaking: string[], from: number, to: number, present = ['a', 'b', 'c']): Floor {
    for (let now = from; now <= to; now += 100) floor = pass(floor, present, speaking, now);
    return floor;
  }
  const first = speak(emptyFloor, [], 0, 0);

  test('is the first one’s until somebody speaks, and nobody’s where nobody is', () => {
    expect(first.holder).toBe('a');
    expect(pass(emptyFloor, [], ['you'], 0).holder).toBeNull();
  });

  test('passes to who speaks in earnest, and stays when they stop', () => {
    const spoken = speak(first, ['b'], 3_000, 4_500);
    expect(spoken.holder).toBe('b');
    expect(speak(spoken, [], 4_600, 60_000).holder).toBe('b');
  });

  test('does not pass at a cough, nor at one now and then', () => {
    let floor = first;
    for (let now = 5_000; now < 30_000; now += 3_000) floor = speak(speak(floor, ['b'], now, now + 800), [], now + 900, now + 2_900);
    expect(floor.holder).toBe('a');
  });

  test('does pass to who takes breath', () => {
    let floor = first;
    for (let now = 5_000; now < 8_000; now += 1_000) floor = speak(speak(floor, ['b'], now, now + 300), [], now + 400, now + 900);
    expect(floor.holder).toBe('b');
  });

  test('is not taken from who goes on, however loud another one is', () => {
    const spoken = speak(first, ['b'], 3_000, 4_500);
    expect(speak(spoken, ['c', 'b'], 4_600, 20_000).holder).toBe('b');
    expect(speak(spoken, ['c'], 4_600, 20_000).holder).toBe('c');
  });

  test('is nobody’s for less than a turn', () => {
    const spoken = speak(first, ['b'], 3_000, 4_300);
    expect(spoken).toMatchObject({ holder: 'b', since: 4_200 });
    expect(speak(spoken, ['c'], 4_400, 6_600).holder).toBe('b');
    expect(speak(spoken, ['c'], 4_400, 6_800).holder).toBe('c');
  });

  test('falls to who spoke last when its holder leaves', () => {
    const spoken = speak(speak(first, ['c'], 3_000, 4_500), ['b'], 10_000, 14_000);
    expect(spoken.holder).toBe('b');
    expect(pass(spoken, ['a', 'c'], [], 15_000).holder).toBe('c');
  });
});

describe('the cast', () => {
  const people = ['you', 'a', 'b'].map((identity): Entry<Person> => ({
    person: { identity, name: identity, role: 'guest', you: identity === 'you', muted: false, participant: {} as Participant },
    goneAt: null,
  }));
  const shown = (selfHidden: boolean, facesOnly: boolean, seen: string[] = [], large: string[] = [], among = people): string => {
    const { cast, unseen } = castOf(among, { selfHidden, facesOnly, seen: new Set(seen), large });
    return [...cast.map(({ person }) => person.identity), ...(unseen ? [`+${unseen}`] : [])].join(' ');
  };

  test('is everybody, or all but you', () => {
    expect(shown(false, false)).toBe('you a b');
    expect(shown(true, false)).toBe('a b');
  });

  test('is those with a picture, and who is large; the others are counted', () => {
    expect(shown(false, true, ['b'])).toBe('you b +1');
    expect(shown(true, true, ['b'], ['a'])).toBe('a b');
  });

  test('is never nobody', () => {
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

  test.each(spaces)('never overlap nor leave the stage: $width by $height', (space) => {
    const strip = stripOf(space);
    for (let large = 1; large <= 4; large++) {
      for (let small = 0; small <= strip.places; small++) {
        const frames = [
          ...largeFrames(large, small > 0 ? besides(space, strip) : space, false),
          ...stripFrames(small, space, strip),
        ];
        expect(frames).toHaveLength(large + small);
        frames.forEach((frame, i) => {
          expect(Math.min(frame.x, frame.y)).toBeGreaterThanOrEqual(0);
          expect(frame.x + frame.width).toBeLessThanOrEqual(space.width);
          expect(frame.y + frame.height).toBeLessThanOrEqual(space.height);
          expect(frames.slice(i + 1).some((other) => overlap(frame, other)), `${large} and ${small}`).toBe(false);
        });
      }
    }
  });

  test('of one size lie in the middle, the last row too', () => {
    const [first, , last] = gridFrames(3, { width: 808, height: 608 }, 4 / 3);
    expect(first).toMatchObject({ x: 0, width: 400 });
    expect(last).toMatchObject({ x: 204, width: 400 });
  });

  test('give a screen all there is, and a face its shape', () => {
    const [space] = spaces;
    if (!space) throw new Error('unreachable');
    expect(largeFrames(1, space, true)).toEqual([{ x: 0, y: 0, ...space }]);
    expect(largeFrames(1, space, false)).toEqual([{ x: 51, y: 0, width: 1137, height: 639 }]);
  });
});

test('a memory of volumes that makes no sense is none', () => {
  expect([...read('[["a",0.2],["b",7],["c"],[3,0.1],"d"]')]).toEqual([['a', 0.2]]);
  for (const nonsense of [null, '', '{', '{}', '7']) expect(read(nonsense).size).toBe(0);
});
