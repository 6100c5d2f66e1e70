import type { ReactElement } from 'react';
import { count } from '../../messages';
import type { Frame } from './frames';
import { frameStyle } from './tilePosition';

interface Props {
  count: number;
  /** The position, on a stage that positions its tiles. */
  frame?: Frame | undefined;
  onPress: () => void;
}

/** Stands for the people who do not fit on the stage. It opens the list of people. */
export function MoreTile({ count: n, frame, onPress }: Props): ReactElement {
  return (
    <li className="more-tile" style={frameStyle(frame)}>
      <button type="button" onClick={onPress}>
        {count('room.more', n)}
      </button>
    </li>
  );
}
