import { RoomEvent, type Room } from 'livekit-client';
import { useEffect, useRef, useState } from 'react';
import type { Person } from '../person';
import type { Entry } from '../roll';
import { emptyFloor, pass } from './floor';

/** How often it is looked whether somebody still speaks: nothing tells of that. */
const every = 300;

/** The identity of who has the floor among the others; null while nobody asks or nobody is there. */
export function useFloor(room: Room, people: readonly Entry<Person>[], asked: boolean): string | null {
  const floor = useRef(emptyFloor);
  const [holder, setHolder] = useState<string | null>(null);
  useEffect(() => {
    if (!asked) return;
    const present = people.filter(({ person }) => !person.you).map(({ person }) => person.identity);
    const follow = (): void => {
      const speaking = room.activeSpeakers.map(({ identity }) => identity);
      floor.current = pass(floor.current, present, speaking, performance.now());
      setHolder(floor.current.holder);
    };
    follow();
    room.on(RoomEvent.ActiveSpeakersChanged, follow);
    const timer = setInterval(follow, every);
    return () => {
      clearInterval(timer);
      room.off(RoomEvent.ActiveSpeakersChanged, follow);
    };
  }, [room, people, asked]);
  return asked ? holder : null;
}
