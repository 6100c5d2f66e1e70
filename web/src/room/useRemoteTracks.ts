import { RoomEvent, type RemoteParticipant, type Room, type Track, type TrackPublication } from 'livekit-client';
import { useLiveKitEvents } from './useLiveKitEvents';

/** What somebody else sends, and who that is. */
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

/** What is received from others of these sources. */
export function useRemoteTracks(room: Room, sources: readonly Track.Source[]): TrackReference[] {
  useLiveKitEvents(room, changes);
  return [...room.remoteParticipants.values()].flatMap((participant) =>
    participant
      .getTrackPublications()
      .filter(({ isSubscribed, source }) => isSubscribed && sources.includes(source))
      .map((publication) => ({ participant, publication, source: publication.source })),
  );
}
