import type { TrackReference } from '@livekit/components-react';
import { RoomEvent, type Room, type Track } from 'livekit-client';
import { useEffect, useMemo, useReducer } from 'react';

const changes = [
  RoomEvent.TrackSubscribed,
  RoomEvent.TrackUnsubscribed,
  RoomEvent.TrackMuted,
  RoomEvent.TrackUnmuted,
  RoomEvent.ParticipantDisconnected,
] as const;

/**
 * What is received from others of these sources. It is known when it is first
 * drawn: LiveKit's own hook knows one drawing later, and so does who listens.
 */
export function useRemoteTracks(room: Room, sources: readonly Track.Source[]): TrackReference[] {
  const [told, tell] = useReducer((times: number) => times + 1, 0);
  useEffect(() => {
    for (const change of changes) room.on(change, tell);
    return () => {
      for (const change of changes) room.off(change, tell);
    };
  }, [room]);
  return useMemo(
    () =>
      [...room.remoteParticipants.values()].flatMap((participant) =>
        participant
          .getTrackPublications()
          .filter(({ isSubscribed, source }) => isSubscribed && sources.includes(source))
          .map((publication) => ({ participant, publication, source: publication.source })),
      ),
    // Told of a change, it looks again.
    [room, sources, told],
  );
}
