import type { Participant, ParticipantEvent, Room, RoomEvent } from 'livekit-client';
import { useLayoutEffect, useReducer } from 'react';

/**
 * Renders again on each of these events and returns their number. The values are read from
 * the source. The array has to be the same on each render.
 */
export function useLiveKitEvents(source: Room, events: readonly RoomEvent[]): number;
export function useLiveKitEvents(source: Participant, events: readonly ParticipantEvent[]): number;
export function useLiveKitEvents(source: Emitter, events: readonly string[]): number {
  const [times, rerender] = useReducer((times: number) => times + 1, 0);
  // A layout effect, because events before a later effect would be missed.
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
