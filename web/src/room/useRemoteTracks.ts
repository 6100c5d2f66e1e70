import type { TrackReference } from '@livekit/components-react';
import { RoomEvent, type Room, type Track } from 'livekit-client';
import { useLayoutEffect, useReducer } from 'react';

const changes = [
  RoomEvent.TrackSubscribed,
  RoomEvent.TrackUnsubscribed,
  RoomEvent.TrackMuted,
  RoomEvent.TrackUnmuted,
  RoomEvent.ParticipantDisconnected,
] as const;

/**
 * What is received from others of these sources, as of this drawing: LiveKit's
 * own hook knows one drawing later.
 */
export function useRemoteTracks(room: Room, sources: readonly Track.Source[]): TrackReference[] {
  const [, tell] = useReducer((times: number) => times + 1, 0);
  // At once: what comes between a drawing and a later effect would be missed.
  useLayoutEffect(() => {
    for (const change of changes) room.on(change, tell);
    return () => {
      for (const change of changes) room.off(change, tell);
    };
  }, [room]);
  return [...room.remoteParticipants.values()].flatMap((participant) =>
    participant
      .getTrackPublications()
      .filter(({ isSubscribed, source }) => isSubscribed && sources.includes(source))
      .map((publication) => ({ participant, publication, source: publication.source })),
  );
}
