import type { ReactElement } from 'react';
import { count } from '../messages';

/** Those for whom the stage has no place; the list has. */
export function MoreTile({ count: n, onPress }: { count: number; onPress: () => void }): ReactElement {
  return (
    <li className="more-tile">
      <button type="button" onClick={onPress}>
        {count('room.more', n)}
      </button>
    </li>
  );
}
