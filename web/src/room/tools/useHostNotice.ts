import { RoomEvent, type Participant, type Room } from 'livekit-client';
import { useEffect, useRef, useState } from 'react';
import type { Role } from '../../api/client';
import type { Studio } from '../../media/studio';
import type { Allowed } from '../allowed';
import { readMessage } from '../message';

export type HostSaid = { is: 'muted' | 'asks'; from: string } | { is: 'cohost' | 'guest' | 'locks' };

/** The latest that a host has done to the visitor, until it is read. */
export function useHostNotice(room: Room, role: Role, allowed: Allowed, studio: Studio): [HostSaid | null, dismiss: () => void] {
  const [said, setSaid] = useState<HostSaid | null>(null);
  useEffect(() => {
    const hear = (payload: Uint8Array, sender?: Participant, _kind?: unknown, topic?: string, _encryption?: unknown, identity?: string): void => {
      const message = readMessage(topic, payload, sender?.identity || identity);
      if (message?.kind === 'muted') {
        // The server has silenced it already; the desk follows, and shows how to go on.
        void studio.setMicOn(false);
        setSaid({ is: 'muted', from: message.from });
      } else if (message?.kind === 'unmute') setSaid({ is: 'asks', from: message.from });
    };
    room.on(RoomEvent.DataReceived, hear);
    return () => void room.off(RoomEvent.DataReceived, hear);
  }, [room, studio]);

  const before = useRef({ role, allowed });
  useEffect(() => {
    const was = before.current;
    before.current = { role, allowed };
    // With the role what they may send changes, too: that is one piece of news.
    if (was.role !== role) {
      if (role !== 'host') setSaid({ is: role });
    } else if (role === 'guest' && was.allowed !== allowed) {
      setSaid((now) => (now?.is === 'guest' ? now : { is: 'locks' }));
    }
  }, [role, allowed]);
  return [said, () => setSaid(null)];
}
