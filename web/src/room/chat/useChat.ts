import { RoomEvent, type Room } from 'livekit-client';
import { useCallback, useEffect, useReducer, useRef, useState } from 'react';
import type { Seat } from '../../api/client';
import type { ServerClock } from '../../lib/clock';
import type { Inbox } from './inbox';
import { blank, turn, type Log } from './log';
import { encode, keyOf, newId, tidy, topic } from './packet';

export interface Chat {
  log: Log;
  /** The server lets this visitor write. */
  mayWrite: boolean;
  /** False when it could not be sent. */
  send: (text: string, replyTo: string | null) => Promise<boolean>;
  setOpen: (open: boolean) => void;
}

/**
 * The chat as this page has it: what is written while one is here. It outlives
 * connections; in another breakout room it goes on below a line.
 */
export function useChat(room: Room, inbox: Inbox, seat: Seat, place: string, clock: ServerClock): Chat {
  const [log, happened] = useReducer(turn, blank);

  // Before the mail of the new place is read.
  const here = seat.breakout?.number ?? 0;
  const before = useRef(here);
  useEffect(() => {
    if (before.current === here) return;
    before.current = here;
    happened({ type: 'moved', place });
  }, [here, place]);

  useEffect(
    () =>
      inbox.read(({ id, from, name, text, replyTo }) => {
        const known = name || (room.remoteParticipants.get(from)?.name ?? '');
        happened({ type: 'wrote', line: { kind: 'line', key: keyOf(from, id), from, name: known, you: false, text, at: clock.now(), replyTo } });
      }),
    [inbox, room, clock],
  );

  const send = useCallback(
    async (written: string, replyTo: string | null): Promise<boolean> => {
      const { identity, name } = seat;
      const id = newId();
      const text = tidy(written);
      try {
        await room.localParticipant.publishData(encode({ id, text, replyTo }), { reliable: true, topic });
      } catch {
        return false;
      }
      happened({ type: 'wrote', line: { kind: 'line', key: keyOf(identity, id), from: identity, name, you: true, text, at: clock.now(), replyTo } });
      return true;
    },
    [room, seat, clock],
  );
  const setOpen = useCallback((open: boolean) => happened({ type: open ? 'open' : 'close' }), []);
  return { log, mayWrite: useMayWrite(room), send, setOpen };
}

/** The server holds everybody to it; the page only offers no more. */
function useMayWrite(room: Room): boolean {
  const read = (): boolean => room.localParticipant.permissions?.canPublishData ?? true;
  const [may, setMay] = useState(read);
  useEffect(() => {
    const look = (): void => setMay(read());
    look();
    room.on(RoomEvent.ParticipantPermissionsChanged, look);
    return () => void room.off(RoomEvent.ParticipantPermissionsChanged, look);
  }, [room]);
  return may;
}
