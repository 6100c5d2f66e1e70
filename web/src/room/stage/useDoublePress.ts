import { type RefObject, useEffect } from 'react';

const maxPauseMs = 400;

/**
 * Calls `onPress` with the key of a tile that is clicked or tapped twice. Not by the
 * browser's own event, which not all phones send. The tile that was tapped last shows its
 * buttons, until it is tapped again.
 */
export function useDoublePress(list: RefObject<HTMLElement | null>, onPress: (key: string) => void): void {
  useEffect(() => {
    const stage = list.current;
    if (!stage) return;
    let first: { key: string; at: number } | null = null;
    const click = ({ target, timeStamp }: MouseEvent): void => {
      const tile = (target as Element).closest('button') ? null : (target as Element).closest<HTMLElement>('[data-key]');
      const key = tile?.dataset.key;
      if (tile) {
        const wasTapped = tile.hasAttribute('data-tapped');
        for (const other of stage.querySelectorAll('[data-tapped]')) other.removeAttribute('data-tapped');
        tile.toggleAttribute('data-tapped', !wasTapped);
      }
      const isSecond = first !== null && first.key === key && timeStamp - first.at < maxPauseMs;
      first = key === undefined || isSecond ? null : { key, at: timeStamp };
      // A second press on a zoomed screen resets it.
      if (isSecond && key !== undefined && !tile?.hasAttribute('data-zoomed')) onPress(key);
    };
    stage.addEventListener('click', click);
    return () => stage.removeEventListener('click', click);
  }, [list, onPress]);
}
