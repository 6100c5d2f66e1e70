import type { Size } from './useElementSize';

export interface Grid {
  columns: number;
  width: number;
  height: number;
}

/** The ratios of width to height that a tile may have. */
export interface Ratios {
  min: number;
  max: number;
}

/** A camera is cropped to any ratio between an upright phone and a wide screen. */
export const cameraRatios: Ratios = { min: 3 / 4, max: 16 / 9 };

export const fixedRatio = (ratio: number): Ratios => ({ min: ratio, max: ratio });

/** How much larger than the widest tile the narrowest one must be to be preferred, because most cameras are wide. */
const wideBonus = 0.15;

/** Returns the columns and the ratio with which `count` tiles have the largest area. */
export function fitGrid(count: number, space: Size, { min, max }: Ratios, gap: number): Grid {
  let best: Grid = { columns: 1, width: 0, height: 0 };
  let bestScore = 0;
  for (let columns = 1; columns <= Math.max(1, count); columns++) {
    const rows = Math.ceil(count / columns);
    const cell = { width: (space.width - gap * (columns - 1)) / columns, height: (space.height - gap * (rows - 1)) / rows };
    if (cell.width <= 0 || cell.height <= 0) continue;
    const ratio = Math.min(max, Math.max(min, cell.width / cell.height));
    const width = Math.floor(Math.min(cell.width, cell.height * ratio));
    const height = Math.floor(width / ratio);
    const score = width * height * (1 + (max > min ? (wideBonus * (ratio - min)) / (max - min) : 0));
    if (score > bestScore) {
      best = { columns, width, height };
      bestScore = score;
    }
  }
  return best;
}

/** Returns how many tiles fit without being narrower than `minWidth`, at least one. */
export function tileCapacity(space: Size, ratio: number, gap: number, minWidth: number): number {
  const columns = Math.floor((space.width + gap) / (minWidth + gap));
  const rows = Math.floor((space.height + gap) / (minWidth / ratio + gap));
  return Math.max(1, columns * rows);
}
