import { useRemoteParticipants } from '@livekit/components-react';
import { RoomEvent, type RemoteParticipant, type Room } from 'livekit-client';
import { useEffect, useMemo, useRef, useState } from 'react';
import type { Seat } from '../api/client';
import { roleOf, type Person } from './person';
import { callRoll, type Entry } from './roll';

/** Whoever loses the connection for a moment stays where they were. */
const blink = 2_000;
/** After the page itself was away, the others are on their way, too. */
const gathering = 8_000;

/** Level changes are not here: they come many times a second and touch one ring each. */
const changes = [
  RoomEvent.TrackMuted,
  RoomEvent.TrackUnmuted,
  RoomEvent.TrackPublished,
  RoomEvent.TrackUnpublished,
  RoomEvent.ParticipantNameChanged,
  RoomEvent.ParticipantAttributesChanged,
];

const byArrival = (a: RemoteParticipant, b: RemoteParticipant): number =>
  (a.joinedAt?.getTime() ?? Infinity) - (b.joinedAt?.getTime() ?? Infinity) || a.identity.localeCompare(b.identity);

/** Everybody in the room, you first, then in the order of their coming. */
export function usePeople(room: Room, seat: Seat, muted: boolean, steady: boolean): Entry<Person>[] {
  const told = useRemoteParticipants({ room, updateOnlyOn: changes });
  // The hook is a moment late, and then tells of nobody or of those in the room
  // before; nobody who is there may seem to come, and nobody to be alone.
  const others = useMemo(() => {
    const current = told.length > 0 && told.every((one) => room.remoteParticipants.get(one.identity) === one);
    return current ? told : [...room.remoteParticipants.values()];
  }, [told, room]);
  const present = useMemo((): Person[] => {
    const you: Person = {
      identity: seat.identity,
      name: seat.name,
      role: roleOf(room.localParticipant, seat.role),
      you: true,
      muted,
      participant: room.localParticipant,
    };
    return [
      you,
      ...others.toSorted(byArrival).map((participant) => ({
        identity: participant.identity,
        name: participant.name || participant.identity,
        role: roleOf(participant, 'guest'),
        you: false,
        muted: !participant.isMicrophoneEnabled,
        participant,
      })),
    ];
  }, [others, room, seat, muted]);

  const [steadySince, setSteadySince] = useState<number | null>(0);
  useEffect(() => setSteadySince((since) => (steady ? (since ?? Date.now()) : null)), [steady]);

  const [roll, setRoll] = useState(() => callRoll<Person>([], present, Date.now(), () => Infinity));
  // Who was in another place of the room is not missing here.
  const here = seat.breakout?.number ?? 0;
  const place = useRef(here);
  useEffect(() => {
    if (place.current !== here) {
      place.current = here;
      setRoll([]);
    }
    const keepUntil = (goneAt: number): number =>
      steadySince === null ? Infinity : Math.max(goneAt + blink, steadySince === 0 ? 0 : steadySince + gathering);
    const call = (): void => setRoll((before) => callRoll(before, present, Date.now(), keepUntil));
    call();
    // Somebody may have to go although nothing happens any more.
    const timer = setInterval(() => {
      setRoll((before) =>
        before.some(({ goneAt }) => goneAt !== null && Date.now() >= keepUntil(goneAt))
          ? callRoll(before, present, Date.now(), keepUntil)
          : before,
      );
    }, 500);
    return () => clearInterval(timer);
  }, [present, steadySince, here]);
  return roll;
}
