import { type RemoteParticipant, type Room, RoomEvent, type Track, type TrackPublication } from 'livekit-client';
import { useLiveKitEvents } from '../connection/useLiveKitEvents';

/** A track of somebody else. */
export interface TrackReference {
  participant: RemoteParticipant;
  publication: TrackPublication;
  source: Track.Source;
}

const changes = [
  RoomEvent.TrackSubscribed,
  RoomEvent.TrackUnsubscribed,
  RoomEvent.TrackMuted,
  RoomEvent.TrackUnmuted,
  RoomEvent.ParticipantDisconnected,
];

/** Returns the subscribed tracks of others from these sources. */
export function useRemoteTracks(room: Room, sources: readonly Track.Source[]): TrackReference[] {
  useLiveKitEvents(room, changes);
  return [...room.remoteParticipants.values()].flatMap((participant) =>
    participant
      .getTrackPublications()
      .filter(({ isSubscribed, source }) => isSubscribed && sources.includes(source))
      .map((publication) => ({ participant, publication, source: publication.source })),
  );
}
