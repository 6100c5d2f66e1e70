import type { ReactElement } from 'react';
import { count } from '../messages';
import type { Frame } from './stage/frames';
import { frameStyle } from './stage/tilePosition';

interface Props {
  count: number;
  /** Where it is, on a stage that says so. */
  frame?: Frame | undefined;
  onPress: () => void;
}

/** Those for whom the stage has no place; the list has. */
export function MoreTile({ count: n, frame, onPress }: Props): ReactElement {
  return (
    <li className="more-tile" style={frameStyle(frame)}>
      <button type="button" onClick={onPress}>
        {count('room.more', n)}
      </button>
    </li>
  );
}
