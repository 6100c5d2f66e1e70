import type { CSSProperties } from 'react';
import type { Frame } from './frames';

/** The position of a tile, and whether it is shown large. */
export interface TilePosition {
  frame: Frame | undefined;
  large: boolean;
}

/** Returns a frame as custom properties for the style sheet. */
export const frameStyle = (frame: Frame | undefined): CSSProperties | undefined =>
  frame && { '--x': `${frame.x}px`, '--y': `${frame.y}px`, '--width': `${frame.width}px`, '--height': `${frame.height}px` };

/** Whether frames begin at the right, as text does. */
export const isMirrored = (): boolean => document.documentElement.dir === 'rtl';
