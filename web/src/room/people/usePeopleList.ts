import { useEffect, useState } from 'react';
import type { People } from '../../api/client';
import type { RoomActions } from '../../visit/roomActions';

const pollMs = 3_000;

/**
 * Returns the server's list of people for a host or co-host, and null while it is not needed or
 * not loaded. The metadata of a session has only the counts. A count stays the same when one person
 * leaves and another comes, so the list is polled while any count is above 0.
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
      const result = await actions.people();
      if (stopped) return;
      if (result.is === 'ok') setPeople(result.value);
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
