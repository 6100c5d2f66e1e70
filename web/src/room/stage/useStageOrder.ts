import { type Room, RoomEvent } from 'livekit-client';
import { useEffect, useState } from 'react';
import type { Person } from '../people/person';
import type { RosterEntry } from '../people/roster';
import { orderByLastSpoken, orderForStage } from './stageOrder';

/**
 * Returns the people in the order of the stage, which shows the first `visibleCount`. With
 * `sortWhenHidden` they are sorted by their last speech while the page is hidden, so that
 * nobody moves while the visitor is looking.
 */
export function useStageOrder(
  room: Room,
  people: RosterEntry<Person>[],
  visibleCount: number,
  sortWhenHidden = false,
): RosterEntry<Person>[] {
  const [order, setOrder] = useState<readonly string[]>([]);
  useEffect(() => {
    const all = people.map(({ person }) => person);
    const spokeAt = (): Map<string, number> =>
      new Map(all.map(({ identity, participant }) => [identity, participant.lastSpokeAt?.getTime() ?? 0]));
    const update = (): void => {
      const speaking = new Set(all.filter(({ participant }) => participant.isSpeaking).map(({ identity }) => identity));
      const present = all.map(({ identity }) => identity);
      setOrder((before) => orderForStage(before, present, visibleCount, spokeAt(), speaking));
    };
    const sort = (): void => {
      if (sortWhenHidden && document.hidden) setOrder((before) => orderByLastSpoken(before, spokeAt()));
    };
    update();
    room.on(RoomEvent.ActiveSpeakersChanged, update);
    document.addEventListener('visibilitychange', sort);
    return () => {
      room.off(RoomEvent.ActiveSpeakersChanged, update);
      document.removeEventListener('visibilitychange', sort);
    };
  }, [room, people, visibleCount, sortWhenHidden]);

  const rank = new Map(order.map((identity, i) => [identity, i]));
  const rankOf = ({ person }: RosterEntry<Person>): number => rank.get(person.identity) ?? Infinity;
  return [...people].sort((a, b) => {
    const first = rankOf(a);
    const second = rankOf(b);
    return first === second ? 0 : first - second;
  });
}
