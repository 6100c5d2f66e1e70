import { type RefObject, useLayoutEffect, useRef } from 'react';
import type { Frame } from './frames';
import { isMirrored } from './tilePosition';
import type { Size } from './useElementSize';

const motion: KeyframeAnimationOptions = { duration: 180, easing: 'cubic-bezier(.2, .8, .2, 1)' };

/**
 * Moves tiles from their previous frames to the new ones, with a transform only. A stage of
 * another size is drawn immediately, because it changes continuously while a window is resized.
 */
export function useTileMotion(
  list: RefObject<HTMLElement | null>,
  frames: ReadonlyMap<string, Frame>,
  space: Size,
  enabled: boolean,
): void {
  const previous = useRef({ frames, space });
  useLayoutEffect(() => {
    const before = previous.current;
    previous.current = { frames, space };
    if (!enabled || before.space !== space || matchMedia('(prefers-reduced-motion: reduce)').matches) return;
    const side = isMirrored() ? -1 : 1;
    const transformOrigin = isMirrored() ? '100% 0' : '0 0';
    for (const tile of list.current?.children ?? []) {
      const key = (tile as HTMLElement).dataset.key ?? '';
      const from = before.frames.get(key);
      const to = frames.get(key);
      if (!from || !to || !isMoved(from, to)) continue;
      const transform = `translate(${(from.x - to.x) * side}px, ${from.y - to.y}px) scale(${from.width / to.width}, ${from.height / to.height})`;
      tile.animate(
        [
          { transformOrigin, transform },
          { transformOrigin, transform: 'none' },
        ],
        motion,
      );
    }
  });
}

const isMoved = (from: Frame, to: Frame): boolean =>
  from.x !== to.x || from.y !== to.y || from.width !== to.width || from.height !== to.height;
