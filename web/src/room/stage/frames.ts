import { fitGrid } from './grid';
import type { Size } from './useElementSize';

/** A rectangle on the stage, from the corner where text begins. */
export interface Frame {
  x: number;
  y: number;
  width: number;
  height: number;
}

export const gap = 8;
/** On a narrower tile, faces are too small to recognize. */
export const minTileWidth = 148;
const tileRatio = 4 / 3;

/** The strip next to the large tiles: its direction, its tile size and how many tiles fit. */
export interface Strip {
  vertical: boolean;
  tile: Size;
  capacity: number;
}

export function stripOf(space: Size): Strip {
  // A phone in landscape has no height to spare.
  const vertical = space.width > 2 * space.height;
  const height = Math.round(vertical ? Math.min(112, space.height / 3) : Math.min(128, Math.max(84, space.height * 0.18)));
  const tile = { width: Math.round(height * tileRatio), height };
  const length = vertical ? space.height : space.width;
  const each = vertical ? tile.height : tile.width;
  return { vertical, tile, capacity: Math.max(1, Math.floor((length + gap) / (each + gap))) };
}

/** Returns the space that is left next to the strip. */
export function besideStrip(space: Size, { vertical, tile }: Strip): Size {
  return vertical
    ? { width: Math.max(0, space.width - tile.width - gap), height: space.height }
    : { width: space.width, height: Math.max(0, space.height - tile.height - gap) };
}

/** Returns the frames of `count` tiles of one ratio, as large as possible and centered. */
export function gridFrames(count: number, space: Size, ratio: number): Frame[] {
  const { columns, width, height } = fitGrid(count, space, ratio, gap);
  const rows = Math.ceil(count / columns);
  const top = (space.height - rows * height - (rows - 1) * gap) / 2;
  return Array.from({ length: count }, (_, i) => {
    const row = Math.floor(i / columns);
    const inRow = row === rows - 1 ? count - row * columns : columns;
    const start = (space.width - inRow * width - (inRow - 1) * gap) / 2;
    return { x: Math.floor(start + (i % columns) * (width + gap)), y: Math.floor(top + row * (height + gap)), width, height };
  });
}

/** Returns the frames of the large tiles. A single one takes all the space that its video can fill. */
export function largeFrames(count: number, space: Size, whole: boolean): Frame[] {
  if (count !== 1) return gridFrames(count, space, whole ? 16 / 9 : tileRatio);
  const shape = space.height > 0 ? space.width / space.height : 1;
  return whole ? [{ x: 0, y: 0, ...space }] : gridFrames(1, space, Math.min(16 / 9, Math.max(3 / 4, shape)));
}

/** Returns the frames of the strip: a centered row below, or a column at the end. */
export function stripFrames(count: number, space: Size, { vertical, tile }: Strip): Frame[] {
  const each = vertical ? tile.height : tile.width;
  const start = Math.max(0, Math.floor(((vertical ? space.height : space.width) - count * each - (count - 1) * gap) / 2));
  return Array.from({ length: count }, (_, i) => {
    const offset = start + i * (each + gap);
    return vertical ? { x: space.width - tile.width, y: offset, ...tile } : { x: offset, y: space.height - tile.height, ...tile };
  });
}
