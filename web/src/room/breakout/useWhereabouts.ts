import { useEffect, useState } from 'react';
import type { Acts } from '../../visit/acts';
import type { RoomInfo } from '../info';
import type { Person } from '../person';
import { seenHere, toldOf, type Whereabouts } from './whereabouts';

const every = 3_000;

/**
 * Who is where, asked of the server while somebody looks: others move people,
 * too, and people move by themselves. `moved` notes what the server has done
 * just now.
 */
export function useWhereabouts(
  acts: Acts,
  you: string,
  seen: readonly Person[],
  { breakout, breakouts }: RoomInfo,
): [people: readonly Whereabouts[], moved: (identity: string, place: number) => void] {
  const [told, setTold] = useState<readonly Whereabouts[] | null>(null);
  const [turn, setTurn] = useState(0);

  useEffect(() => {
    let over = false;
    let timer: ReturnType<typeof setTimeout>;
    const ask = async (): Promise<void> => {
      const answer = await acts.people();
      // Asked before somebody moved: the next answer knows.
      if (over) return;
      if (answer.is === 'ok') setTold(toldOf(answer.value.people, you));
      timer = setTimeout(() => void ask(), every);
    };
    void ask();
    return () => {
      over = true;
      clearTimeout(timer);
    };
    // Rooms that open or close take people along.
  }, [acts, you, turn, breakouts]);

  function moved(identity: string, place: number): void {
    setTold((before) => before && before.map((person) => (person.identity === identity ? { ...person, place } : person)));
    setTurn((before) => before + 1);
  }
  return [told ?? seenHere(seen, breakout), moved];
}
