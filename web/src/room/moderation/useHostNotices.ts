import { type Participant, type Room, RoomEvent } from 'livekit-client';
import { useEffect, useReducer, useRef } from 'react';
import type { Role } from '../../api/client';
import type { LocalMedia } from '../../media/localMedia';
import type { Locks } from '../connection/roomMetadata';
import { readServerMessage } from '../connection/serverMessage';
import { type HostNotices, noHostNotices, reduceHostNotices } from './hostNotices';

/** Returns what hosts have changed for the visitor. `read` removes a notice. */
export function useHostNotices(
  room: Room,
  role: Role,
  locks: Locks,
  localMedia: LocalMedia,
): [HostNotices, read: (kind: 'mic' | 'role' | 'locks') => void] {
  const [notices, dispatch] = useReducer(reduceHostNotices, noHostNotices);
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
        dispatch({ type: 'muted', from: message.from });
      } else if (message?.kind === 'unmute') dispatch({ type: 'asks', from: message.from });
    };
    room.on(RoomEvent.DataReceived, onData);
    return () => void room.off(RoomEvent.DataReceived, onData);
  }, [room, localMedia]);

  const before = useRef({ role, locks });
  useEffect(() => {
    const previous = before.current;
    before.current = { role, locks };
    if (previous.role !== role) {
      if (role !== 'host') dispatch({ type: 'role', role });
    } else if (role === 'guest') dispatch({ type: 'locks', before: previous.locks, after: locks });
  }, [role, locks]);
  return [notices, (kind) => dispatch({ type: 'read', kind })];
}
