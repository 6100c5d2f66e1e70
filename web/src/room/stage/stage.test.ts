import type { Participant } from 'livekit-client';
import { describe, expect, test } from 'vitest';
import type { Person } from '../people/person';
import type { RosterEntry } from '../people/roster';
import { type ActiveSpeaker, noActiveSpeaker, updateActiveSpeaker } from './activeSpeaker';
import {
  belowScreen,
  besideStrip,
  type Corner,
  chipRowOf,
  type Frame,
  fitOf,
  floatFrame,
  gridFrames,
  largeFrames,
  nearestCorner,
  nextCorner,
  stripFrames,
  stripOf,
} from './frames';
import { fixedRatio } from './grid';
import { selectLarge } from './selectLarge';
import { selectVisible } from './visible';
import { panBy, unzoomed, zoomAt } from './zoom';

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
    expect(shown(false, false)).toBe('a b you');
    expect(shown(true, false)).toBe('a b');
  });

  test('are the people with video and the large ones; the others are counted', () => {
    expect(shown(false, true, ['b'])).toBe('b you +1');
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
    { width: 244, height: 196 },
    { width: 120, height: 100 },
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

  test.each(spaces)('of people without video are in a row: $width by $height', (space) => {
    const row = chipRowOf(space);
    const frames = stripFrames(row.capacity, space, row);
    for (const frame of frames) expect(frame.x + frame.width).toBeLessThanOrEqual(space.width);
    expect(new Set(frames.map(({ y }) => y)).size).toBe(1);
  });

  test('of one size are centered, including the last row', () => {
    const [first, , last] = gridFrames(3, { width: 808, height: 608 }, fixedRatio(4 / 3));
    expect(first).toMatchObject({ x: 0, width: 400 });
    expect(last).toMatchObject({ x: 204, width: 400 });
  });

  test('give a screen the whole space, and a camera the nearest ratio that it may have', () => {
    expect(largeFrames(1, { width: 1240, height: 640 }, true)).toEqual([{ x: 0, y: 0, width: 1240, height: 640 }]);
    expect(largeFrames(1, { width: 1240, height: 640 }, false)).toEqual([{ x: 51, y: 0, width: 1137, height: 639 }]);
    expect(largeFrames(1, { width: 375, height: 800 }, false)).toEqual([{ x: 0, y: 150, width: 375, height: 500 }]);
  });

  test('of people are below a screen on an upright stage', () => {
    expect(belowScreen({ width: 374, height: 690 })).toEqual({ screen: { width: 374, height: 281 }, people: { width: 374, height: 401 } });
    expect(belowScreen({ width: 1264, height: 716 })).toBeNull();
    expect(belowScreen({ width: 374, height: 480 })).toBeNull();
  });

  test('of a strip are at the side of a wide stage and below an upright one', () => {
    expect(stripOf({ width: 1264, height: 716 })).toEqual({ vertical: true, tile: { width: 208, height: 117 }, capacity: 5 });
    expect(stripOf({ width: 374, height: 690 })).toMatchObject({ vertical: false, capacity: 3 });
  });
});

describe('the floating picture', () => {
  const space = { width: 1264, height: 716 };
  const corners: Corner[] = [true, false].flatMap((end) => [true, false].map((bottom) => ({ end, bottom })));

  test('is in the corner of its size, and not over the name of the other', () => {
    expect(floatFrame(space, { end: true, bottom: true })).toEqual({ x: 1044, y: 587, width: 208, height: 117 });
    expect(floatFrame(space, { end: false, bottom: true })).toMatchObject({ x: 12, y: 551 });
    expect(floatFrame({ width: 374, height: 690 }, { end: true, bottom: false })).toEqual({ x: 270, y: 12, width: 92, height: 124 });
  });

  test.each(corners)('snaps to the nearest corner: $end $bottom', (corner) => {
    const frame = floatFrame(space, corner);
    expect(nearestCorner({ ...frame, x: frame.x + (corner.end ? -200 : 200) }, space)).toEqual(corner);
  });

  test('goes around all corners', () => {
    let corner = nextCorner({ end: true, bottom: true });
    const seen = [corner];
    for (let i = 0; i < 3; i++) {
      corner = nextCorner(corner);
      seen.push(corner);
    }
    expect(new Set(seen.map(({ end, bottom }) => `${end} ${bottom}`)).size).toBe(4);
  });
});

test.each([
  { picture: { width: 640, height: 360 }, tile: { width: 414, height: 232 }, fit: 'fill' },
  { picture: { width: 640, height: 360 }, tile: { width: 183, height: 224 }, fit: 'fill' },
  { picture: { width: 640, height: 480 }, tile: { width: 1264, height: 716 }, fit: 'fill' },
  { picture: { width: 360, height: 640 }, tile: { width: 414, height: 232 }, fit: 'whole' },
  { picture: { width: 360, height: 640 }, tile: { width: 183, height: 224 }, fit: 'fill' },
  { picture: { width: 640, height: 360 }, tile: { width: 374, height: 690 }, fit: 'part' },
  { picture: null, tile: { width: 374, height: 690 }, fit: 'fill' },
])('a picture of $picture.width by $picture.height in $tile.width by $tile.height: $fit', ({ picture, tile, fit }) => {
  expect(fitOf(picture, tile)).toBe(fit);
});

describe('an enlarged screen', () => {
  const size = { width: 800, height: 400 };

  test('keeps the point under the pointer where it is', () => {
    const zoom = zoomAt(unzoomed, 2, { x: 600, y: 100 }, size);
    expect(zoom).toEqual({ factor: 2, x: -600, y: -100 });
  });

  test('never leaves a gap, and is never smaller than the tile', () => {
    const zoom = zoomAt(unzoomed, 2, { x: 0, y: 0 }, size);
    expect(panBy(zoom, { x: 50, y: 50 }, size)).toEqual({ factor: 2, x: 0, y: 0 });
    expect(panBy(zoom, { x: -5_000, y: -100 }, size)).toEqual({ factor: 2, x: -800, y: -100 });
    expect(zoomAt(zoom, 0.1, { x: 700, y: 300 }, size)).toEqual(unzoomed);
    expect(zoomAt(zoom, 100, { x: 0, y: 0 }, size).factor).toBe(6);
  });
});
