import { DisconnectReason, RoomEvent, type RemoteParticipant, type Room } from 'livekit-client';
import { useEffect, useMemo, useRef, useState } from 'react';
import type { Seat } from '../api/client';
import { roleOf, type Person } from './person';
import { callRoll, type Entry } from './roll';
import { useEvents } from './useEvents';

/** Whoever loses the connection for a moment stays where they were. */
const blink = 2_000;
/** After the page itself was away, the others are on their way, too. */
const gathering = 8_000;

/** Level changes are not here: they come many times a second and touch one ring each. */
const changes = [
  RoomEvent.ConnectionStateChanged,
  RoomEvent.ParticipantConnected,
  RoomEvent.ParticipantDisconnected,
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
  const changed = useEvents(room, changes);
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
      ...[...room.remoteParticipants.values()].sort(byArrival).map((participant) => ({
        identity: participant.identity,
        name: participant.name || participant.identity,
        role: roleOf(participant, 'guest'),
        you: false,
        muted: !participant.isMicrophoneEnabled,
        participant,
      })),
    ];
  }, [changed, room, seat, muted]);

  const goodbyes = useGoodbyes(room);

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
    const keepUntil = (goneAt: number, identity: string): number => {
      if (goodbyes.has(identity)) return goneAt;
      return steadySince === null ? Infinity : Math.max(goneAt + blink, steadySince === 0 ? 0 : steadySince + gathering);
    };
    const call = (): void => setRoll((before) => callRoll(before, present, Date.now(), keepUntil));
    call();
    // Somebody may have to go although nothing happens any more.
    const timer = setInterval(() => {
      setRoll((before) =>
        before.some(({ person, goneAt }) => goneAt !== null && Date.now() >= keepUntil(goneAt, person.identity))
          ? callRoll(before, present, Date.now(), keepUntil)
          : before,
      );
    }, 500);
    return () => clearInterval(timer);
  }, [present, steadySince, here, goodbyes]);
  return roll;
}

/** Those who did not lose the connection but left, to another breakout room or for good. */
function useGoodbyes(room: Room): ReadonlySet<string> {
  const goodbyes = useMemo(() => new Set<string>(), [room]);
  useEffect(() => {
    const went = ({ identity }: RemoteParticipant, reason?: DisconnectReason): void => {
      if (reason === DisconnectReason.CLIENT_INITIATED || reason === DisconnectReason.PARTICIPANT_REMOVED) goodbyes.add(identity);
    };
    const came = ({ identity }: RemoteParticipant): void => void goodbyes.delete(identity);
    room.on(RoomEvent.ParticipantDisconnected, went).on(RoomEvent.ParticipantConnected, came);
    return () => void room.off(RoomEvent.ParticipantDisconnected, went).off(RoomEvent.ParticipantConnected, came);
  }, [room, goodbyes]);
  return goodbyes;
}
