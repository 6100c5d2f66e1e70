import { type Room, RoomEvent } from 'livekit-client';
import { useEffect, useRef, useState } from 'react';
import type { Person } from '../people/person';
import type { RosterEntry } from '../people/roster';
import { noActiveSpeaker, updateActiveSpeaker } from './activeSpeaker';

/** Polled, because no event reports that somebody continues to speak. */
const intervalMs = 300;

/** Returns the identity of the active speaker among the others; null when nobody is there. */
export function useActiveSpeaker(room: Room, people: readonly RosterEntry<Person>[]): string | null {
  const activeSpeaker = useRef(noActiveSpeaker);
  const [identity, setIdentity] = useState<string | null>(null);
  useEffect(() => {
    const present = people.filter(({ person }) => !person.you).map(({ person }) => person.identity);
    const update = (): void => {
      const speaking = room.activeSpeakers.map(({ identity }) => identity);
      activeSpeaker.current = updateActiveSpeaker(activeSpeaker.current, present, speaking, performance.now());
      setIdentity(activeSpeaker.current.identity);
    };
    update();
    room.on(RoomEvent.ActiveSpeakersChanged, update);
    const timer = setInterval(update, intervalMs);
    return () => {
      clearInterval(timer);
      room.off(RoomEvent.ActiveSpeakersChanged, update);
    };
  }, [room, people]);
  return identity;
}
