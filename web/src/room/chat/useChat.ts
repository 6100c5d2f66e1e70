import { type Room, RoomEvent } from 'livekit-client';
import { type Dispatch, type SetStateAction, useCallback, useEffect, useReducer, useRef, useState } from 'react';
import type { Seat } from '../../api/client';
import type { ServerClock } from '../../time/serverClock';
import type { PacketMonitor } from '../connection/packetMonitor';
import type { Person } from '../people/person';
import type { RosterEntry } from '../people/roster';
import { type ChatLog, emptyLog, reduceChat } from './chatLog';
import type { Inbox } from './inbox';
import { chatTopic, encode, messageKey, newId, normalizeText, type Packet } from './packet';
import { possiblyLost, remember, type SentMessage } from './sentMessages';

export interface Chat {
  log: ChatLog;
  /** The server allows the visitor to write. */
  canWrite: boolean;
  /** The text that the visitor is writing. It stays while the chat is closed. */
  draft: string;
  setDraft: Dispatch<SetStateAction<string>>;
  /** Resolves to false when the message could not be sent. */
  send: (text: string, replyTo: string | null) => Promise<boolean>;
  setOpen: (open: boolean) => void;
}

/** The chat of this page. It outlives connections and continues below a divider in another breakout room. */
export function useChat(
  room: Room,
  packets: PacketMonitor,
  inbox: Inbox,
  seat: Seat,
  roomName: string,
  clock: ServerClock,
  people: readonly RosterEntry<Person>[],
): Chat {
  const [log, dispatch] = useReducer(reduceChat, emptyLog);
  const [draft, setDraft] = useState('');

  // Runs before the messages of the new room are read.
  const breakoutNumber = seat.breakout?.number ?? 0;
  const previousBreakout = useRef(breakoutNumber);
  useEffect(() => {
    if (previousBreakout.current === breakoutNumber) return;
    previousBreakout.current = breakoutNumber;
    dispatch({ type: 'moved', roomName });
  }, [breakoutNumber, roomName]);

  const sent = useRef<readonly SentMessage[]>([]);
  const lastConnection = useRef({ room, packets, breakoutNumber });
  useEffect(() => {
    const before = lastConnection.current;
    lastConnection.current = { room, packets, breakoutNumber };
    if (before.room === room || before.breakoutNumber !== breakoutNumber) return;
    // The pages of the others drop those that they have, by their ids.
    for (const packet of possiblyLost(sent.current, before.packets.packetAt, performance.now()))
      publish(room, packet).catch(() => undefined);
  }, [room, packets, breakoutNumber]);

  const known = useRef(people);
  known.current = people;
  useEffect(
    () =>
      inbox.subscribe(({ id, from, name, text, replyTo }) => {
        const distinctName = known.current.find(({ person }) => person.identity === from)?.person.name;
        const senderName = distinctName || name || (room.remoteParticipants.get(from)?.name ?? '');
        dispatch({
          type: 'received',
          message: { kind: 'message', key: messageKey(from, id), from, name: senderName, you: false, text, at: clock.now(), replyTo },
        });
      }),
    [inbox, room, clock],
  );

  const send = useCallback(
    async (draft: string, replyTo: string | null): Promise<boolean> => {
      const { identity, name } = seat;
      const id = newId();
      const text = normalizeText(draft);
      const packet = { id, text, replyTo };
      try {
        await publish(room, packet);
      } catch {
        return false;
      }
      sent.current = remember(sent.current, { packet, at: performance.now() });
      dispatch({
        type: 'received',
        message: { kind: 'message', key: messageKey(identity, id), from: identity, name, you: true, text, at: clock.now(), replyTo },
      });
      return true;
    },
    [room, seat, clock],
  );
  const setOpen = useCallback((open: boolean) => dispatch({ type: open ? 'open' : 'close' }), []);
  return { log, canWrite: useCanWrite(room), draft, setDraft, send, setOpen };
}

function publish({ localParticipant }: Room, packet: Packet): Promise<void> {
  return localParticipant.publishData(encode(packet), { reliable: true, topic: chatTopic });
}

/** The server enforces the permission; the page only hides the input. */
function useCanWrite(room: Room): boolean {
  const readPermission = (): boolean => room.localParticipant.permissions?.canPublishData ?? true;
  const [allowed, setAllowed] = useState(readPermission);
  useEffect(() => {
    const update = (): void => setAllowed(readPermission());
    update();
    room.on(RoomEvent.ParticipantPermissionsChanged, update);
    return () => void room.off(RoomEvent.ParticipantPermissionsChanged, update);
  }, [room]);
  return allowed;
}
