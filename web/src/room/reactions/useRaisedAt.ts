import { useRef } from 'react';
import type { ServerClock } from '../../time/serverClock';
import { noteRaised } from './hands';

/** Returns when the page has seen each hand go up. */
export function useRaisedAt(hands: readonly { identity: string }[], clock: ServerClock): ReadonlyMap<string, number | null> {
  const known = useRef<ReadonlyMap<string, number | null> | null>(null);
  const noted = useRef<readonly unknown[] | null>(null);
  if (noted.current !== hands) {
    known.current = noteRaised(known.current, hands, clock.now());
    noted.current = hands;
  }
  return known.current ?? new Map();
}
