import { useRef } from 'react';
import type { ServerClock } from '../../time/serverClock';
import { updateRaisedAt } from './hands';

/** Returns when the page has seen each hand go up. */
export function useRaisedAt(hands: readonly { identity: string }[], clock: ServerClock): ReadonlyMap<string, number | null> {
  const known = useRef<ReadonlyMap<string, number | null> | null>(null);
  const lastHands = useRef<readonly unknown[] | null>(null);
  if (lastHands.current !== hands) {
    known.current = updateRaisedAt(known.current, hands, clock.now());
    lastHands.current = hands;
  }
  return known.current ?? new Map();
}
