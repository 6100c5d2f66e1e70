import type { ReactElement } from 'react';
import type { Seat } from '../../api/client';
import type { Acts } from '../../visit/acts';
import type { Place, RoomInfo } from '../info';
import type { Person } from '../person';
import { OpenRooms } from './OpenRooms';
import { RunRooms } from './RunRooms';
import { useWhereabouts } from './useWhereabouts';

interface Props {
  acts: Acts;
  seat: Seat;
  info: RoomInfo;
  places: readonly Place[];
  /** Everybody else here. */
  seen: readonly Person[];
}

/** What hosts do with breakout rooms: open them first, then run them. */
export function HostRooms({ acts, seat, info, places, seen }: Props): ReactElement {
  const [people, moved] = useWhereabouts(acts, seat.identity, seen, info);
  return info.breakouts.length > 0 ? (
    <RunRooms acts={acts} places={places} most={seat.max_breakouts} people={people} onMoved={moved} />
  ) : (
    <OpenRooms acts={acts} most={seat.max_breakouts} people={people} />
  );
}
