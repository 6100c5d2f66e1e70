import { type Room, RoomEvent } from 'livekit-client';
import { useEffect, useState } from 'react';
import type { Role } from '../../api/client';
import { roleOf } from '../people/person';

/** Returns the visitor's current role, which a host can change. */
export function useRole(room: Room, initialRole: Role): Role {
  const [role, setRole] = useState(() => roleOf(room.localParticipant, initialRole));
  useEffect(() => {
    const read = (): void => setRole(roleOf(room.localParticipant, initialRole));
    read();
    room.on(RoomEvent.ParticipantAttributesChanged, read).on(RoomEvent.Reconnected, read);
    return () => void room.off(RoomEvent.ParticipantAttributesChanged, read).off(RoomEvent.Reconnected, read);
  }, [room, initialRole]);
  return role;
}
