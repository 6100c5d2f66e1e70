import { useEffect, useState } from 'react';
import type { RoomActions } from '../../visit/roomActions';
import type { RoomMetadata } from '../connection/roomMetadata';
import type { Person } from '../people/person';
import { localLocations, type PersonLocation, serverLocations } from './personLocations';

const pollMs = 3_000;

/**
 * Returns which room everybody is in, polled from the server, because other hosts move
 * people and people move themselves. `moved` applies a move at once that the server has
 * confirmed.
 */
export function usePersonLocations(
  actions: RoomActions,
  ownIdentity: string,
  present: readonly Person[],
  { breakout, breakouts }: RoomMetadata,
): [people: readonly PersonLocation[], moved: (identity: string, to: number) => void] {
  const [locations, setLocations] = useState<readonly PersonLocation[] | null>(null);
  const [restarts, setRestarts] = useState(0);

  useEffect(() => {
    let stopped = false;
    let timer: ReturnType<typeof setTimeout>;
    const poll = async (): Promise<void> => {
      const result = await actions.people();
      // The response is older than a move; the next one is current.
      if (stopped) return;
      if (result.is === 'ok') setLocations(serverLocations(result.value.people, ownIdentity));
      timer = setTimeout(() => void poll(), pollMs);
    };
    void poll();
    return () => {
      stopped = true;
      clearTimeout(timer);
    };
    // People move when rooms open or close.
  }, [actions, ownIdentity, restarts, breakouts]);

  function moved(identity: string, to: number): void {
    setLocations((before) => before?.map((person) => (person.identity === identity ? { ...person, breakout: to } : person)) ?? null);
    setRestarts((before) => before + 1);
  }
  return [locations ?? localLocations(present, breakout), moved];
}
