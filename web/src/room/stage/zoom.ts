import type { Size } from './useElementSize';

/** How a screen is enlarged: a factor, and where its top left corner is. */
export interface Zoom {
  factor: number;
  x: number;
  y: number;
}

export interface Point {
  x: number;
  y: number;
}

export const unzoomed: Zoom = { factor: 1, x: 0, y: 0 };
const maxFactor = 6;

/** Enlarges by a factor around a point of the tile, which stays where it is. */
export function zoomAt({ factor, x, y }: Zoom, by: number, point: Point, size: Size): Zoom {
  const wanted = Math.min(maxFactor, Math.max(1, factor * by));
  const change = wanted / factor;
  return clampZoom({ factor: wanted, x: point.x - (point.x - x) * change, y: point.y - (point.y - y) * change }, size);
}

/** Moves the enlarged screen. */
export const panBy = (zoom: Zoom, by: Point, size: Size): Zoom => clampZoom({ ...zoom, x: zoom.x + by.x, y: zoom.y + by.y }, size);

/** Keeps the tile filled, also after its size has changed. */
export function clampZoom({ factor, x, y }: Zoom, { width, height }: Size): Zoom {
  const clamp = (value: number, length: number): number => Math.min(0, Math.max(value, length * (1 - factor)));
  return { factor, x: clamp(x, width), y: clamp(y, height) };
}
