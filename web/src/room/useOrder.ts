import { RoomEvent, type Room } from 'livekit-client';
import { useEffect, useState } from 'react';
import { arrange } from './arrange';
import type { Person } from './person';
import type { Entry } from './roll';

/** The people in the order of the stage, of which it shows the first `places`. */
export function useOrder(room: Room, people: Entry<Person>[], places: number): Entry<Person>[] {
  const [order, setOrder] = useState<readonly string[]>([]);
  useEffect(() => {
    const follow = (): void => {
      const all = people.map(({ person }) => person);
      const speaking = new Set(all.filter(({ participant }) => participant.isSpeaking).map(({ identity }) => identity));
      const spokeAt = new Map(all.map(({ identity, participant }) => [identity, participant.lastSpokeAt?.getTime() ?? 0]));
      const present = all.map(({ identity }) => identity);
      setOrder((before) => arrange(before, present, places, spokeAt, speaking));
    };
    follow();
    room.on(RoomEvent.ActiveSpeakersChanged, follow);
    return () => void room.off(RoomEvent.ActiveSpeakersChanged, follow);
  }, [room, people, places]);

  const rank = new Map(order.map((identity, i) => [identity, i]));
  const rankOf = ({ person }: Entry<Person>): number => rank.get(person.identity) ?? Infinity;
  return people.toSorted((a, b) => {
    const first = rankOf(a);
    const second = rankOf(b);
    return first === second ? 0 : first - second;
  });
}
