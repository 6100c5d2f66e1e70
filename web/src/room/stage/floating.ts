import { type RefObject, useEffect, useState } from 'react';
import { Store } from '../../state/store';
import { useStore } from '../../state/useStore';
import { type Corner, type Frame, floatFrame, nearestCorner, nextCorner } from './frames';
import { isMirrored } from './tilePosition';
import type { Size } from './useElementSize';

/** The corner of the visitor's own picture in a call of two. */
const corner = new Store<Corner>({ end: true, bottom: true });

/** Moves the picture to the next corner. */
export const moveFloat = (): void => corner.set(nextCorner(corner.get()));

/**
 * Returns the frame of the floating picture, and whether it is being dragged. It follows the
 * pointer and snaps to the nearest corner.
 */
export function useFloating(list: RefObject<HTMLElement | null>, space: Size): { frame: Frame; dragged: boolean } {
  const rest = floatFrame(space, useStore(corner));
  const [dragged, setDragged] = useState<Frame | null>(null);
  useEffect(() => {
    const stage = list.current;
    if (!stage) return;
    let start: { pointer: number; x: number; y: number; frame: Frame; at: Frame } | null = null;
    const press = (event: PointerEvent): void => {
      const target = event.target as Element;
      const tile = target.closest<HTMLElement>('[data-floating]');
      if (!tile || target.closest('button') || event.button !== 0) return;
      const frame = floatFrame(space, corner.get());
      start = { pointer: event.pointerId, x: event.clientX, y: event.clientY, frame, at: frame };
      tile.setPointerCapture(event.pointerId);
    };
    const move = (event: PointerEvent): void => {
      if (start?.pointer !== event.pointerId) return;
      const { frame } = start;
      const x = frame.x + (event.clientX - start.x) * (isMirrored() ? -1 : 1);
      const y = frame.y + event.clientY - start.y;
      start.at = {
        ...frame,
        x: Math.max(0, Math.min(x, space.width - frame.width)),
        y: Math.max(0, Math.min(y, space.height - frame.height)),
      };
      setDragged(start.at);
    };
    const release = (event: PointerEvent): void => {
      if (start?.pointer !== event.pointerId) return;
      corner.set(nearestCorner(start.at, space));
      start = null;
      setDragged(null);
    };
    stage.addEventListener('pointerdown', press);
    stage.addEventListener('pointermove', move);
    stage.addEventListener('pointerup', release);
    stage.addEventListener('pointercancel', release);
    return () => {
      stage.removeEventListener('pointerdown', press);
      stage.removeEventListener('pointermove', move);
      stage.removeEventListener('pointerup', release);
      stage.removeEventListener('pointercancel', release);
    };
  }, [list, space]);
  return { frame: dragged ?? rest, dragged: dragged !== null };
}
