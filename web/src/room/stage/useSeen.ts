import { Track, type Room } from 'livekit-client';
import { useRemoteTracks, type TrackReference } from '../useRemoteTracks';

const visible = [Track.Source.Camera, Track.Source.ScreenShare];

export interface Seen {
  /** The cameras of the others that run, by whose they are. */
  cameras: ReadonlyMap<string, TrackReference>;
  /** The screens that others share, in the order they began. */
  screens: readonly TrackReference[];
}

/** What there is to see of the others. */
export function useSeen(room: Room): Seen {
  const seen = useRemoteTracks(room, visible).filter(({ publication }) => !publication.isMuted);
  return {
    cameras: new Map(seen.filter(({ source }) => source === Track.Source.Camera).map((track) => [track.participant.identity, track])),
    screens: seen.filter(({ source }) => source === Track.Source.ScreenShare),
  };
}
