import { describe, expect, test } from 'vitest';
import { arrangeStage, ownScreenKey, planStage, type StageContent } from './arrangeStage';
import type { Size } from './useElementSize';

const desktop = { width: 1200, height: 700 };
const phone = { width: 360, height: 560 };
const floating = { x: 1, y: 2, width: 3, height: 4 };

/** Arranges the stage of these people, who stay in their order. */
function arrange(change: Partial<StageContent>, space: Size = desktop) {
  const content: StageContent = {
    others: [],
    you: 'you',
    large: [],
    screens: [],
    ownScreen: false,
    withVideo: new Set(['you', 'a', 'b', 'c', 'd']),
    withoutVideo: new Set(),
    speaker: null,
    hiddenCount: 0,
    ...change,
  };
  const plan = planStage(content, space);
  return { plan, ...arrangeStage(content, plan, plan.tiles, plan.chips, floating) };
}

const many = Array.from({ length: 60 }, (_, i) => `p${i}`);

describe('the arrangement of the stage', () => {
  test('of one person is one tile', () => {
    const { keys, frames, moreCount } = arrange({});
    expect(keys).toEqual(['you']);
    expect(frames.get('you')?.width).toBeGreaterThan(600);
    expect(moreCount).toBe(0);
  });

  test('of two people fills the stage with the other, and the visitor floats', () => {
    const { keys, frames, plan } = arrange({ others: ['a'] });
    expect(plan.isPair).toBe(true);
    expect(keys).toEqual(['a', 'you']);
    expect(frames.get('a')).toEqual({ x: 0, y: 0, ...desktop });
    expect(frames.get('you')).toBe(floating);
    expect(arrange({ others: ['a'], ownScreen: true }).plan.isPair).toBe(false);
    expect(arrange({ others: ['a'], you: null }).plan.isPair).toBe(false);
  });

  test('of a few people has tiles of one size, the visitor and their own screen last', () => {
    const { keys, frames } = arrange({ others: ['a', 'b', 'c'], ownScreen: true });
    expect(keys).toEqual(['a', 'b', 'c', ownScreenKey, 'you']);
    expect(new Set([...frames.values()].map(({ width }) => width)).size).toBe(1);
  });

  test('shows people without video in a row, when others have video', () => {
    const withoutVideo = new Set(['c', 'd', 'you']);
    const { keys, chips, frames } = arrange({ others: ['a', 'b', 'c', 'd'], withVideo: new Set(['a', 'b']), withoutVideo });
    expect(keys).toEqual(['a', 'b', 'c', 'd', 'you']);
    expect([...chips]).toEqual(['c', 'd', 'you']);
    expect(frames.get('c')?.y).toBeGreaterThan(frames.get('b')?.y ?? Infinity);
    expect(arrange({ others: ['a', 'b'], withVideo: new Set(), withoutVideo: new Set(['a', 'b']) }).chips.size).toBe(0);
  });

  test('counts the people who do not fit, and those whom a setting hides', () => {
    const { keys, moreCount, moreFrame } = arrange({ others: many, withVideo: new Set(many), hiddenCount: 5 }, phone);
    expect(moreCount).toBe(many.length - (keys.length - 1) + 5);
    expect(keys).toContain('you');
    expect(moreFrame).toBeDefined();
    expect(arrange({ others: ['a', 'b'], hiddenCount: 5 }).moreCount).toBe(0);
  });

  test('has a strip beside what is large, with the active speaker first', () => {
    const { keys, frames, plan } = arrange({ others: ['a', 'b', 'c'], large: ['d'], speaker: 'c' });
    expect(plan.strip).not.toBeNull();
    expect(keys).toEqual(['d', 'c', 'a', 'b', 'you']);
    expect(frames.get('d')?.width).toBeGreaterThan(4 * (frames.get('a')?.width ?? Infinity));
  });

  test('has people below a screen on an upright stage, and beside it on others', () => {
    const content = { others: ['a', 'b'], large: ['b/screen'], screens: ['b/screen'] };
    expect(arrange(content, { width: 700, height: 1100 }).plan.below).not.toBeNull();
    expect(arrange(content).plan.below).toBeNull();
    expect(arrange(content).frames.get('b/screen')?.x).toBe(0);
  });

  test('never overlaps and stays on the stage', () => {
    for (const space of [desktop, phone, { width: 700, height: 1100 }, { width: 568, height: 220 }])
      for (const count of [0, 1, 2, 3, 7, 60])
        for (const large of [[], ['x'], ['x', 'y'], ['a/screen']])
          for (const ownScreen of [false, true]) {
            const others = many.slice(0, count);
            const screens = large.filter((key) => key.endsWith('/screen'));
            const withVideo = new Set(others.filter((_, i) => i % 2 === 0));
            const withoutVideo = new Set(others.filter((_, i) => i % 2 === 1));
            const { frames, keys, moreFrame, plan } = arrange({ others, large, screens, ownScreen, withVideo, withoutVideo }, space);
            expect([...frames.keys()].sort()).toEqual([...keys].sort());
            const placed = [...frames].filter(([key]) => !(plan.isPair && key === 'you')).map(([, frame]) => frame);
            if (moreFrame) placed.push(moreFrame);
            for (const [i, a] of placed.entries()) {
              expect(a.x >= 0 && a.x + a.width <= space.width + 1, JSON.stringify({ a, space, count, large })).toBe(true);
              for (const b of placed.slice(i + 1)) {
                const separate = a.x + a.width <= b.x || b.x + b.width <= a.x || a.y + a.height <= b.y || b.y + b.height <= a.y;
                expect(separate, JSON.stringify({ a, b, space, count, large, ownScreen })).toBe(true);
              }
            }
          }
  });
});
