import { DisconnectReason, RoomEvent, type RemoteParticipant, type Room } from 'livekit-client';
import { useEffect, useMemo, useRef, useState } from 'react';
import type { Seat } from '../api/client';
import { roleOf, type Person } from './person';
import { updateRoster, type RosterEntry } from './roster';
import { useLiveKitEvents } from './useLiveKitEvents';

/** Whoever loses the connection for a moment stays where they were. */
const disconnectGraceMs = 2_000;
/** After the page itself was away, the others are on their way, too. */
const reconnectGraceMs = 8_000;

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
export function usePeople(room: Room, seat: Seat, muted: boolean, connected: boolean): RosterEntry<Person>[] {
  const changeCount = useLiveKitEvents(room, changes);
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
  }, [changeCount, room, seat, muted]);

  const departed = useDeparted(room);

  const [connectedSince, setConnectedSince] = useState<number | null>(0);
  useEffect(() => setConnectedSince((since) => (connected ? (since ?? Date.now()) : null)), [connected]);

  const [roster, setRoster] = useState(() => updateRoster<Person>([], present, Date.now(), () => Infinity));
  // Who was in another place of the room is not missing here.
  const breakoutNumber = seat.breakout?.number ?? 0;
  const previousBreakout = useRef(breakoutNumber);
  useEffect(() => {
    if (previousBreakout.current !== breakoutNumber) {
      previousBreakout.current = breakoutNumber;
      setRoster([]);
    }
    const keepUntil = (disconnectedAt: number, identity: string): number => {
      if (departed.has(identity)) return disconnectedAt;
      return connectedSince === null ? Infinity : Math.max(disconnectedAt + disconnectGraceMs, connectedSince === 0 ? 0 : connectedSince + reconnectGraceMs);
    };
    const update = (): void => setRoster((before) => updateRoster(before, present, Date.now(), keepUntil));
    update();
    // Somebody may have to go although nothing happens any more.
    const timer = setInterval(() => {
      setRoster((before) =>
        before.some(({ person, disconnectedAt }) => disconnectedAt !== null && Date.now() >= keepUntil(disconnectedAt, person.identity))
          ? updateRoster(before, present, Date.now(), keepUntil)
          : before,
      );
    }, 500);
    return () => clearInterval(timer);
  }, [present, connectedSince, breakoutNumber, departed]);
  return roster;
}

/** Those who did not lose the connection but left, to another breakout room or for good. */
function useDeparted(room: Room): ReadonlySet<string> {
  const departed = useMemo(() => new Set<string>(), [room]);
  useEffect(() => {
    const onDisconnected = ({ identity }: RemoteParticipant, reason?: DisconnectReason): void => {
      if (reason === DisconnectReason.CLIENT_INITIATED || reason === DisconnectReason.PARTICIPANT_REMOVED) departed.add(identity);
    };
    const onConnected = ({ identity }: RemoteParticipant): void => void departed.delete(identity);
    room.on(RoomEvent.ParticipantDisconnected, onDisconnected).on(RoomEvent.ParticipantConnected, onConnected);
    return () => void room.off(RoomEvent.ParticipantDisconnected, onDisconnected).off(RoomEvent.ParticipantConnected, onConnected);
  }, [room, departed]);
  return departed;
}
