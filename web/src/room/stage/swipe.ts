export interface Point {
  x: number;
  y: number;
  /** In milliseconds. */
  at: number;
}

const minDistance = 60;
const maxMs = 600;

/** Whether a finger that touched the screen here and left it there has swiped sideways. */
export function isSwipe(start: Point, end: Point): boolean {
  const [dx, dy] = [Math.abs(end.x - start.x), Math.abs(end.y - start.y)];
  return dx >= minDistance && dx > 2 * dy && end.at - start.at <= maxMs;
}
