import { useEffect, useState } from 'react';
import type { People } from '../../api/client';
import type { RoomActions } from '../../visit/roomActions';

const pollMs = 3_000;

/**
 * Returns the server's list of people, which only hosts get; null when it is not known. The
 * metadata of a session has only numbers of what is in the list (`counts`), so it is polled
 * while one of them is not 0: one person may leave as another comes.
 */
export function usePeopleList(actions: RoomActions, isModerator: boolean, counts: readonly number[]): People | null {
  const [people, setPeople] = useState<People | null>(null);
  const needed = isModerator && counts.some((n) => n > 0);
  const key = counts.join();
  useEffect(() => {
    if (!needed) return setPeople(null);
    let stopped = false;
    let timer: ReturnType<typeof setTimeout>;
    const poll = async (): Promise<void> => {
      const answer = await actions.people();
      if (stopped) return;
      if (answer.is === 'ok') setPeople(answer.value);
      timer = setTimeout(() => void poll(), pollMs);
    };
    void poll();
    return () => {
      stopped = true;
      clearTimeout(timer);
    };
  }, [actions, needed, key]);
  return people;
}
