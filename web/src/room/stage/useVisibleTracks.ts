import { Track, type Room } from 'livekit-client';
import { useRemoteTracks, type TrackReference } from '../useRemoteTracks';

const visibleSources = [Track.Source.Camera, Track.Source.ScreenShare];

export interface VisibleTracks {
  /** The cameras of the others that run, by whose they are. */
  cameras: ReadonlyMap<string, TrackReference>;
  /** The screens that others share, in the order they began. */
  screens: readonly TrackReference[];
}

/** What there is to see of the others. */
export function useVisibleTracks(room: Room): VisibleTracks {
  const tracks = useRemoteTracks(room, visibleSources).filter(({ publication }) => !publication.isMuted);
  return {
    cameras: new Map(tracks.filter(({ source }) => source === Track.Source.Camera).map((track) => [track.participant.identity, track])),
    screens: tracks.filter(({ source }) => source === Track.Source.ScreenShare),
  };
}
