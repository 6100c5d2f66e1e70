import type { ReactElement } from 'react';
import { t } from '../../messages';
import type { Place } from '../info';

interface Props {
  person: string;
  places: readonly Place[];
  value: number;
  onChoose: (place: number) => void;
}

/** Somebody's name, and where they are to be. */
export function PlaceSelect({ person, places, value, onChoose }: Props): ReactElement {
  return (
    <li className="assign-row">
      <span className="roll-name">
        <bdi>{person}</bdi>
      </span>
      <select
        aria-label={t('rooms.placeOf', { name: person })}
        value={value}
        onChange={(event) => onChoose(Number(event.target.value))}
      >
        {places.map(({ number, name }) => (
          <option key={number} value={number}>
            {name}
          </option>
        ))}
      </select>
    </li>
  );
}
