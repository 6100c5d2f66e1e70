import { type ReactElement, useRef } from 'react';
import { t } from '../../messages';
import { useMeeting } from '../meeting';
import { AudioTile } from './AudioTile';
import { fitGrid, tileCapacity } from './grid';
import { MoreTile } from './MoreTile';
import { useElementSize } from './useElementSize';
import { useStageOrder } from './useStageOrder';

/** A tile with a name below it is a little higher than wide. */
const ratio = 0.8;
const gap = 12;
const minSize = 104;
const maxSize = 288;

export function AudioStage(): ReactElement {
  const { room, people, openSheet } = useMeeting();
  const stage = useRef<HTMLDivElement>(null);
  const space = useElementSize(stage);
  const capacity = tileCapacity(space, ratio, gap, minSize);
  const ordered = useStageOrder(room, people, people.length > capacity ? capacity - 1 : capacity, true);
  const shown = ordered.length > capacity ? ordered.slice(0, capacity - 1) : ordered;
  const hiddenCount = ordered.length - shown.length;
  const { columns, width } = fitGrid(shown.length + (hiddenCount > 0 ? 1 : 0), space, ratio, gap);
  const size = Math.min(maxSize, width);
  return (
    <div ref={stage} className="stage">
      <ul
        className="faces"
        aria-label={t('room.stage')}
        style={{ '--size': `${size}px`, '--gap': `${gap}px`, maxInlineSize: columns * size + (columns - 1) * gap }}
      >
        {space.width > 0 && shown.map((entry) => <AudioTile key={entry.person.identity} entry={entry} />)}
        {hiddenCount > 0 && <MoreTile count={hiddenCount} onPress={() => openSheet('people')} />}
      </ul>
    </div>
  );
}
