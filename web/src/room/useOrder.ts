import { RoomEvent, type Room } from 'livekit-client';
import { useEffect, useState } from 'react';
import { arrange, byVoice } from './arrange';
import type { Person } from './person';
import type { Entry } from './roll';

/**
 * The people in the order of the stage, of which it shows the first `places`.
 * With `voices` they stand in the order of their last words whenever the
 * visitor comes back to the page: nobody moves under the eyes of a reader.
 */
export function useOrder(room: Room, people: Entry<Person>[], places: number, voices = false): Entry<Person>[] {
  const [order, setOrder] = useState<readonly string[]>([]);
  useEffect(() => {
    const all = people.map(({ person }) => person);
    const fixed = all[0]?.you ? 1 : 0;
    const spokeAt = (): Map<string, number> =>
      new Map(all.map(({ identity, participant }) => [identity, participant.lastSpokeAt?.getTime() ?? 0]));
    const follow = (): void => {
      const speaking = new Set(all.filter(({ participant }) => participant.isSpeaking).map(({ identity }) => identity));
      const present = all.map(({ identity }) => identity);
      setOrder((before) => arrange(before, present, places, spokeAt(), speaking, fixed));
    };
    const sort = (): void => {
      if (voices && document.hidden) setOrder((before) => byVoice(before, spokeAt(), fixed));
    };
    follow();
    room.on(RoomEvent.ActiveSpeakersChanged, follow);
    document.addEventListener('visibilitychange', sort);
    return () => {
      room.off(RoomEvent.ActiveSpeakersChanged, follow);
      document.removeEventListener('visibilitychange', sort);
    };
  }, [room, people, places, voices]);

  const rank = new Map(order.map((identity, i) => [identity, i]));
  const rankOf = ({ person }: Entry<Person>): number => rank.get(person.identity) ?? Infinity;
  return people.toSorted((a, b) => {
    const first = rankOf(a);
    const second = rankOf(b);
    return first === second ? 0 : first - second;
  });
}
