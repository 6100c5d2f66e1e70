import { type Participant, type Room, RoomEvent } from 'livekit-client';
import { useEffect, useRef, useState } from 'react';
import type { Role } from '../../api/client';
import type { LocalMedia } from '../../media/localMedia';
import type { PublishPermissions } from '../connection/publishPermissions';
import { readServerMessage } from '../connection/serverMessage';

export type HostAction = { is: 'muted' | 'asks'; from: string } | { is: 'cohost' | 'guest' | 'locks' };

/** Returns the latest action of a host on the visitor until it is dismissed. */
export function useHostNotice(
  room: Room,
  role: Role,
  allowed: PublishPermissions,
  localMedia: LocalMedia,
): [HostAction | null, dismiss: () => void] {
  const [action, setAction] = useState<HostAction | null>(null);
  useEffect(() => {
    const onData = (
      payload: Uint8Array,
      sender?: Participant,
      _kind?: unknown,
      topic?: string,
      _encryption?: unknown,
      identity?: string,
    ): void => {
      const message = readServerMessage(topic, payload, sender?.identity || identity);
      if (message?.kind === 'muted') {
        // The server has muted the track already; the local state follows, so that the
        // button shows it.
        void localMedia.setMicOn(false);
        setAction({ is: 'muted', from: message.from });
      } else if (message?.kind === 'unmute') setAction({ is: 'asks', from: message.from });
    };
    room.on(RoomEvent.DataReceived, onData);
    return () => void room.off(RoomEvent.DataReceived, onData);
  }, [room, localMedia]);

  const before = useRef({ role, allowed });
  useEffect(() => {
    const previous = before.current;
    before.current = { role, allowed };
    // A change of the role changes the permissions, too: show only the role.
    if (previous.role !== role) {
      if (role !== 'host') setAction({ is: role });
    } else if (role === 'guest' && previous.allowed !== allowed) {
      setAction((now) => (now?.is === 'guest' ? now : { is: 'locks' }));
    }
  }, [role, allowed]);
  return [action, () => setAction(null)];
}
