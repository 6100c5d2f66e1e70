import type { ReactElement } from 'react';
import { t } from '../../messages';
import type { BreakoutRoom } from '../connection/roomMetadata';

interface Props {
  person: string;
  rooms: readonly BreakoutRoom[];
  value: number;
  onChoose: (room: number) => void;
}

/** A person's name and a list of rooms to choose from. */
export function BreakoutSelect({ person, rooms, value, onChoose }: Props): ReactElement {
  return (
    <li className="assign-row">
      <span className="roster-name">
        <bdi>{person}</bdi>
      </span>
      <select aria-label={t('rooms.placeOf', { name: person })} value={value} onChange={(event) => onChoose(Number(event.target.value))}>
        {rooms.map(({ number, name }) => (
          <option key={number} value={number}>
            {name}
          </option>
        ))}
      </select>
    </li>
  );
}
