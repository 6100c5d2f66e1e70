import type { Room } from 'livekit-client';
import { useRef, type ReactElement } from 'react';
import { useSize } from '../lib/useSize';
import { t } from '../messages';
import { Face } from './Face';
import { capacity, fitGrid } from './grid';
import { MoreTile } from './MoreTile';
import type { Person } from './person';
import type { Entry } from './roll';
import { useOrder } from './useOrder';

interface Props {
  room: Room;
  people: Entry<Person>[];
  onPeople: () => void;
}

/** A face with its name under it is a little higher than wide. */
const ratio = 0.8;
const gap = 12;
const least = 104;
const most = 288;

export function AudioStage({ room, people, onPeople }: Props): ReactElement {
  const stage = useRef<HTMLDivElement>(null);
  const space = useSize(stage);
  const places = capacity(space, ratio, gap, least);
  const ordered = useOrder(room, people, people.length > places ? places - 1 : places, true);
  const shown = ordered.length > places ? ordered.slice(0, places - 1) : ordered;
  const more = ordered.length - shown.length;
  const { columns, width } = fitGrid(shown.length + (more > 0 ? 1 : 0), space, ratio, gap);
  const size = Math.min(most, width);
  return (
    <div ref={stage} className="stage">
      <ul
        className="faces"
        aria-label={t('room.stage')}
        style={{ '--size': `${size}px`, '--gap': `${gap}px`, maxInlineSize: columns * size + (columns - 1) * gap }}
      >
        {space.width > 0 && shown.map((entry) => <Face key={entry.person.identity} room={room} entry={entry} />)}
        {more > 0 && <MoreTile count={more} onPress={onPeople} />}
      </ul>
    </div>
  );
}
