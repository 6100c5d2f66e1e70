import { cameraRatios, fitGrid, fixedRatio, tileCapacity } from './grid';
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
const minTileWidth = 148;
/** One tile is not enough: it would be the one that stands for the people who do not fit. */
const minCapacity = 2;

/** Returns how many tiles of the same size fit on the stage. */
export const gridCapacity = (space: Size): number => Math.max(minCapacity, tileCapacity(space, 4 / 3, gap, minTileWidth));

/** A row or a column of small tiles at the edge of the stage: its direction, its tile size and how many tiles fit. */
export interface Strip {
  vertical: boolean;
  tile: Size;
  capacity: number;
}

/** Returns the strip next to the large tiles: at the side of a wide stage, and below on others. */
export function stripOf(space: Size): Strip {
  if (space.width > 1.3 * space.height) {
    const wanted = Math.min(208, Math.max(128, space.width * 0.165));
    const width = Math.floor(Math.min(wanted, ((space.height - gap) / minCapacity) * cameraRatios.max));
    return strip(true, { width, height: Math.floor(width / cameraRatios.max) }, space);
  }
  const height = Math.round(Math.min(128, Math.max(84, space.height * 0.18)));
  // A phone has space for three.
  const width = Math.floor(Math.min((height * 4) / 3, Math.max(96, (space.width - 2 * gap) / 3), (space.width - gap) / minCapacity));
  return strip(false, { width, height }, space);
}

const chipHeight = 52;

/** Returns the row of people without video below the grid. */
export function chipRowOf(space: Size): Strip {
  const perRow = Math.max(minCapacity, Math.floor((space.width + gap) / (176 + gap)));
  const width = Math.min(208, Math.floor((space.width - (perRow - 1) * gap) / perRow));
  return strip(false, { width, height: chipHeight }, space);
}

function strip(vertical: boolean, tile: Size, space: Size): Strip {
  const length = vertical ? space.height : space.width;
  const each = vertical ? tile.height : tile.width;
  return { vertical, tile, capacity: Math.max(minCapacity, Math.floor((length + gap) / (each + gap))) };
}

/** Returns the space that is left next to the strip. */
export function besideStrip(space: Size, { vertical, tile }: Strip): Size {
  return vertical
    ? { width: Math.max(0, space.width - tile.width - gap), height: space.height }
    : { width: space.width, height: Math.max(0, space.height - tile.height - gap) };
}

/** Below a screen, people need at least this height to be more than a strip. */
const minHeightBelow = 200;

/**
 * Returns the spaces of a shared screen and of the people below it on an upright stage; null
 * where the people are in a strip. A screen is wide, so that it does not need the height.
 */
export function belowScreen({ width, height }: Size): { screen: Size; people: Size } | null {
  const screen = { width, height: Math.round((width * 3) / 4) };
  const people = { width, height: height - screen.height - gap };
  return people.height >= minHeightBelow ? { screen, people } : null;
}

/** Returns the frames of `count` tiles of one size, as large as possible and centered. */
export function gridFrames(count: number, space: Size, ratios = cameraRatios): Frame[] {
  const { columns, width, height } = fitGrid(count, space, ratios, gap);
  const rows = Math.ceil(count / columns);
  const top = (space.height - rows * height - (rows - 1) * gap) / 2;
  return Array.from({ length: count }, (_, i) => {
    const row = Math.floor(i / columns);
    const inRow = row === rows - 1 ? count - row * columns : columns;
    const start = (space.width - inRow * width - (inRow - 1) * gap) / 2;
    return { x: Math.floor(start + (i % columns) * (width + gap)), y: Math.floor(top + row * (height + gap)), width, height };
  });
}

/** Returns the frames of the large tiles. A single screen takes the whole space, because it is never cropped. */
export function largeFrames(count: number, space: Size, screens: boolean): Frame[] {
  if (!screens) return gridFrames(count, space);
  return count === 1 ? [{ x: 0, y: 0, ...space }] : gridFrames(count, space, fixedRatio(cameraRatios.max));
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

/** A corner of the stage. */
export interface Corner {
  end: boolean;
  bottom: boolean;
}

const corners: Corner[] = [
  { end: true, bottom: true },
  { end: true, bottom: false },
  { end: false, bottom: false },
  { end: false, bottom: true },
];

/** Returns the next corner, counterclockwise from the bottom end. */
export const nextCorner = (corner: Corner): Corner =>
  corners[(corners.findIndex(({ end, bottom }) => end === corner.end && bottom === corner.bottom) + 1) % corners.length] ?? corner;

const floatMargin = 12;
/** The name of the person who fills the stage is in this corner. */
const nameHeight = 36;

/** Returns the frame of the visitor's own picture over the other person's. */
export function floatFrame({ width, height }: Size, { end, bottom }: Corner): Frame {
  const own = width < 600 ? { width: 92, height: 124 } : height < 420 ? { width: 144, height: 81 } : { width: 208, height: 117 };
  return {
    x: Math.max(0, end ? width - own.width - floatMargin : floatMargin),
    y: Math.max(0, bottom ? height - own.height - floatMargin - (end ? 0 : nameHeight) : floatMargin),
    ...own,
  };
}

/** Returns the corner that is nearest to the center of a frame. */
export function nearestCorner(frame: Frame, space: Size): Corner {
  return { end: frame.x + frame.width / 2 > space.width / 2, bottom: frame.y + frame.height / 2 > space.height / 2 };
}

export type Fit = 'fill' | 'whole' | 'part';

/** From this difference of the ratios on, filling a wide tile with an upright picture leaves only a forehead. */
const maxUprightCrop = 1.6;
/** A wide picture may be cropped to a face, which is in its middle. */
const maxWideCrop = 2.4;

/**
 * Returns how a picture is fitted into a tile: it fills the tile, or is shown as a whole, or
 * only its sides are cut off.
 */
export function fitOf(picture: Size | null, tile: Size): Fit {
  if (!picture || picture.width === 0 || picture.height === 0 || tile.height === 0) return 'fill';
  const pictureRatio = picture.width / picture.height;
  const tileRatio = tile.width / tile.height;
  if (tileRatio / pictureRatio > maxUprightCrop) return 'whole';
  return pictureRatio / tileRatio > maxWideCrop ? 'part' : 'fill';
}
