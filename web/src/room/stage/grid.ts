export interface Grid {
  columns: number;
  width: number;
  height: number;
}

/** Returns the number of columns with which `count` tiles of this ratio are as large as possible. */
export function fitGrid(count: number, space: { width: number; height: number }, ratio: number, gap: number): Grid {
  let best: Grid = { columns: 1, width: 0, height: 0 };
  for (let columns = 1; columns <= Math.max(1, count); columns++) {
    const rows = Math.ceil(count / columns);
    const width = Math.floor(Math.min((space.width - gap * (columns - 1)) / columns, ((space.height - gap * (rows - 1)) / rows) * ratio));
    if (width > best.width) best = { columns, width, height: Math.floor(width / ratio) };
  }
  return best;
}

/** Returns how many tiles fit without being narrower than `minWidth`, at least one. */
export function tileCapacity(space: { width: number; height: number }, ratio: number, gap: number, minWidth: number): number {
  const columns = Math.floor((space.width + gap) / (minWidth + gap));
  const rows = Math.floor((space.height + gap) / (minWidth / ratio + gap));
  return Math.max(1, columns * rows);
}
