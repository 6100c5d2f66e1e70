import type { ReactElement } from 'react';
import type { Seat } from '../../api/client';
import type { RoomActions } from '../../visit/roomActions';
import type { BreakoutRoom, RoomMetadata } from '../connection/roomMetadata';
import type { Person } from '../people/person';
import { OpenBreakouts } from './OpenBreakouts';
import { ManageBreakouts } from './ManageBreakouts';
import { usePersonLocations } from './usePersonLocations';

interface Props {
  actions: RoomActions;
  seat: Seat;
  metadata: RoomMetadata;
  rooms: readonly BreakoutRoom[];
  /** The other people in this room. */
  present: readonly Person[];
}

/** Opens breakout rooms for hosts, or manages the open ones. */
export function HostBreakouts({ actions, seat, metadata, rooms, present }: Props): ReactElement {
  const [people, moved] = usePersonLocations(actions, seat.identity, present, metadata);
  return metadata.breakouts.length > 0 ? (
    <ManageBreakouts actions={actions} rooms={rooms} maxRooms={seat.max_breakouts} people={people} onMoved={moved} />
  ) : (
    <OpenBreakouts actions={actions} maxRooms={seat.max_breakouts} people={people} />
  );
}
