import type { CSSProperties } from 'react';
import type { Frame } from './frames';

/** Where on the stage something is, and whether it is what one looks at. */
export interface TilePosition {
  frame: Frame | undefined;
  large: boolean;
}

/** A frame as the styles read it. */
export const frameStyle = (frame: Frame | undefined): CSSProperties | undefined =>
  frame && { '--x': `${frame.x}px`, '--y': `${frame.y}px`, '--width': `${frame.width}px`, '--height': `${frame.height}px` };
