import { useEffect, useState } from 'react';
import type { RoomActions } from '../../visit/roomActions';
import type { RoomMetadata } from '../roomMetadata';
import type { Person } from '../person';
import { localLocations, serverLocations, type PersonLocation } from './personLocations';

const pollMs = 3_000;

/**
 * Who is where, asked of the server while somebody looks: others move people,
 * too, and people move by themselves. `moved` notes what the server has done
 * just now.
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
      const answer = await actions.people();
      // Asked before somebody moved: the next answer knows.
      if (stopped) return;
      if (answer.is === 'ok') setLocations(serverLocations(answer.value.people, ownIdentity));
      timer = setTimeout(() => void poll(), pollMs);
    };
    void poll();
    return () => {
      stopped = true;
      clearTimeout(timer);
    };
    // Rooms that open or close take people along.
  }, [actions, ownIdentity, restarts, breakouts]);

  function moved(identity: string, to: number): void {
    setLocations((before) => before && before.map((person) => (person.identity === identity ? { ...person, breakout: to } : person)));
    setRestarts((before) => before + 1);
  }
  return [locations ?? localLocations(present, breakout), moved];
}
