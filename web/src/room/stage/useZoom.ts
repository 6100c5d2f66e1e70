import { type RefObject, useEffect, useRef, useState } from 'react';
import { type Point, panBy, unzoomed, type Zoom, zoomAt } from './zoom';

export interface ZoomControls {
  zoom: Zoom;
  /** Enlarges by a factor around the center. */
  zoomBy: (factor: number) => void;
  /** Moves by parts of the tile. */
  pan: (x: number, y: number) => void;
  reset: () => void;
}

/**
 * Enlarges a shared screen: with the wheel and Ctrl (which is also what a touchpad sends for
 * a pinch), with two fingers, or with buttons. It is dragged with the pointer, and a double
 * click shows all of it again.
 */
export function useZoom(tile: RefObject<HTMLElement | null>, enabled: boolean): ZoomControls {
  const [zoom, setZoom] = useState(unzoomed);
  const current = useRef(zoom);
  const change = (to: Zoom): void => {
    current.current = to;
    setZoom(to);
  };
  const size = (): DOMRect => tile.current?.getBoundingClientRect() ?? new DOMRect();

  useEffect(() => {
    const element = tile.current;
    if (!element || !enabled) return;
    const pointers = new Map<number, Point>();
    const pointOf = ({ clientX, clientY }: MouseEvent): Point => ({ x: clientX - size().x, y: clientY - size().y });
    const onWheel = (event: WheelEvent): void => {
      if (!event.ctrlKey) return;
      event.preventDefault();
      change(zoomAt(current.current, Math.exp(-event.deltaY / 200), pointOf(event), size()));
    };
    const press = (event: PointerEvent): void => {
      if ((event.target as Element).closest('button')) return;
      pointers.set(event.pointerId, pointOf(event));
      element.setPointerCapture(event.pointerId);
    };
    const move = (event: PointerEvent): void => {
      const before = pointers.get(event.pointerId);
      if (!before) return;
      const now = pointOf(event);
      pointers.set(event.pointerId, now);
      const [other] = [...pointers].flatMap(([id, point]) => (id === event.pointerId ? [] : point));
      change(
        other
          ? zoomAt(current.current, distance(now, other) / Math.max(1, distance(before, other)), middle(now, other), size())
          : panBy(current.current, { x: now.x - before.x, y: now.y - before.y }, size()),
      );
    };
    const release = ({ pointerId }: PointerEvent): void => void pointers.delete(pointerId);
    const reset = (): void => change(unzoomed);
    element.addEventListener('wheel', onWheel, { passive: false });
    element.addEventListener('pointerdown', press);
    element.addEventListener('pointermove', move);
    element.addEventListener('pointerup', release);
    element.addEventListener('pointercancel', release);
    element.addEventListener('dblclick', reset);
    return () => {
      element.removeEventListener('wheel', onWheel);
      element.removeEventListener('pointerdown', press);
      element.removeEventListener('pointermove', move);
      element.removeEventListener('pointerup', release);
      element.removeEventListener('pointercancel', release);
      element.removeEventListener('dblclick', reset);
      // A small tile shows all of the screen.
      reset();
    };
  }, [tile, enabled]);

  return {
    zoom,
    zoomBy: (factor) => change(zoomAt(current.current, factor, { x: size().width / 2, y: size().height / 2 }, size())),
    pan: (x, y) => change(panBy(current.current, { x: x * size().width, y: y * size().height }, size())),
    reset: () => change(unzoomed),
  };
}

const distance = (a: Point, b: Point): number => Math.hypot(a.x - b.x, a.y - b.y);
const middle = (a: Point, b: Point): Point => ({ x: (a.x + b.x) / 2, y: (a.y + b.y) / 2 });
