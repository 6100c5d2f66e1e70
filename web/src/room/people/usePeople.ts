import { DisconnectReason, type RemoteParticipant, type Room, RoomEvent } from 'livekit-client';
import { useEffect, useMemo, useRef, useState } from 'react';
import type { Seat } from '../../api/client';
import { useLiveKitEvents } from '../connection/useLiveKitEvents';
import { distinctNames } from './distinctNames';
import { type Person, roleOf } from './person';
import { graceEnd, type RosterEntry, updateRoster } from './roster';

/** Without level changes, which come many times a second and only affect one ring. */
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

/** The server moves a person by ending the old connection with MIGRATION, if the page has not ended it. */
const departures = new Set([DisconnectReason.CLIENT_INITIATED, DisconnectReason.PARTICIPANT_REMOVED, DisconnectReason.MIGRATION]);

const byArrival = (a: RemoteParticipant, b: RemoteParticipant): number =>
  (a.joinedAt?.getTime() ?? Infinity) - (b.joinedAt?.getTime() ?? Infinity) || a.identity.localeCompare(b.identity);

/** Returns everybody in the room: the visitor first, then the others in the order of joining. */
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

  const [connectedSince, setConnectedSince] = useState<number | null>(-Infinity);
  useEffect(() => setConnectedSince((since) => (connected ? (since ?? performance.now()) : null)), [connected]);

  const [roster, setRoster] = useState(() => updateRoster<Person>([], present, performance.now(), () => Infinity));
  // People of another breakout room are not missing in this one.
  const breakoutNumber = seat.breakout?.number ?? 0;
  const previousBreakout = useRef(breakoutNumber);
  useEffect(() => {
    if (previousBreakout.current !== breakoutNumber) {
      previousBreakout.current = breakoutNumber;
      setRoster([]);
    }
    const keepUntil = (disconnectedAt: number, identity: string): number =>
      departed.has(identity) ? disconnectedAt : graceEnd(disconnectedAt, connectedSince);
    const update = (): void => setRoster((before) => updateRoster(before, present, performance.now(), keepUntil));
    update();
    // An entry may expire without any event.
    const timer = setInterval(() => {
      setRoster((before) =>
        before.some(
          ({ person, disconnectedAt }) => disconnectedAt !== null && performance.now() >= keepUntil(disconnectedAt, person.identity),
        )
          ? updateRoster(before, present, performance.now(), keepUntil)
          : before,
      );
    }, 500);
    return () => clearInterval(timer);
  }, [present, connectedSince, breakoutNumber, departed]);
  return useMemo(() => {
    const named = distinctNames(roster.map(({ person }) => person));
    return roster.map((entry, i) => (named[i] && named[i] !== entry.person ? { ...entry, person: named[i] } : entry));
  }, [roster]);
}

/** Returns the identities of people who left or moved to another room, instead of losing the connection. */
function useDeparted(room: Room): ReadonlySet<string> {
  const departed = useMemo(() => new Set<string>(), [room]);
  useEffect(() => {
    const onDisconnected = ({ identity }: RemoteParticipant, reason?: DisconnectReason): void => {
      if (reason !== undefined && departures.has(reason)) departed.add(identity);
    };
    const onConnected = ({ identity }: RemoteParticipant): void => void departed.delete(identity);
    room.on(RoomEvent.ParticipantDisconnected, onDisconnected).on(RoomEvent.ParticipantConnected, onConnected);
    return () => void room.off(RoomEvent.ParticipantDisconnected, onDisconnected).off(RoomEvent.ParticipantConnected, onConnected);
  }, [room, departed]);
  return departed;
}
