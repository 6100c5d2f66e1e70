import { type ReactElement, useRef } from 'react';
import { t } from '../../messages';
import { useMeetingPeople, useMeetingView, useMembership } from '../meeting';
import { AudioTile } from './AudioTile';
import { fitGrid, fixedRatio, tileCapacity } from './grid';
import { MoreTile } from './MoreTile';
import { shareTiles } from './stageOrder';
import { useElementSize } from './useElementSize';
import { useStageOrder } from './useStageOrder';

/** A tile with a name below it is a little higher than wide. */
const ratio = 0.8;
const gap = 12;
const minSize = 104;
const maxSize = 256;

export function AudioStage(): ReactElement {
  const { room } = useMembership();
  const { people } = useMeetingPeople();
  const { openSheet } = useMeetingView();
  const stage = useRef<HTMLDivElement>(null);
  const space = useElementSize(stage);
  const capacity = tileCapacity(space, ratio, gap, minSize);
  const others = people.filter(({ person }) => !person.you);
  const you = people.filter(({ person }) => person.you);
  const fitting = shareTiles(others.length, you.length > 0, capacity);
  const ordered = useStageOrder(room, others, fitting.others, true);
  const shown = [...ordered.slice(0, fitting.others), ...(fitting.you ? you : [])];
  const hiddenCount = others.length - fitting.others;
  const { columns, width } = fitGrid(shown.length + (hiddenCount > 0 ? 1 : 0), space, fixedRatio(ratio), gap);
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
