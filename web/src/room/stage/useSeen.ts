import { useTracks, type TrackReference } from '@livekit/components-react';
import { RoomEvent, Track, type Room } from 'livekit-client';

const changes = [RoomEvent.TrackMuted, RoomEvent.TrackUnmuted, RoomEvent.TrackSubscribed, RoomEvent.TrackUnsubscribed];

export interface Seen {
  /** The cameras of the others that run, by whose they are. */
  cameras: ReadonlyMap<string, TrackReference>;
  /** The screens that others share, in the order they began. */
  screens: readonly TrackReference[];
}

/** What there is to see of the others. */
export function useSeen(room: Room): Seen {
  const tracks = useTracks([Track.Source.Camera, Track.Source.ScreenShare], { room, updateOnlyOn: changes });
  const seen = tracks.filter(({ participant, publication }) => !participant.isLocal && publication.isSubscribed && !publication.isMuted);
  return {
    cameras: new Map(seen.filter(({ source }) => source === Track.Source.Camera).map((track) => [track.participant.identity, track])),
    screens: seen.filter(({ source }) => source === Track.Source.ScreenShare),
  };
}
