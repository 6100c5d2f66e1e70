import type { Participant, ParticipantEvent, Room, RoomEvent } from 'livekit-client';
import { useLayoutEffect, useReducer } from 'react';

/**
 * Draws anew whenever one of these happens to a room or to somebody in it, and
 * returns how often that was: what has changed is read from them. The list has
 * to be the same each time.
 */
export function useLiveKitEvents(source: Room, events: readonly RoomEvent[]): number;
export function useLiveKitEvents(source: Participant, events: readonly ParticipantEvent[]): number;
export function useLiveKitEvents(source: Emitter, events: readonly string[]): number {
  const [times, rerender] = useReducer((times: number) => times + 1, 0);
  // At once: what comes between a drawing and a later effect would be missed.
  useLayoutEffect(() => {
    for (const event of events) source.on(event, rerender);
    return () => {
      for (const event of events) source.off(event, rerender);
    };
  }, [source, events]);
  return times;
}

interface Emitter {
  on(event: string, listener: () => void): unknown;
  off(event: string, listener: () => void): unknown;
}
