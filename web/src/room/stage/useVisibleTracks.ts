import { type Room, Track } from 'livekit-client';
import { type TrackReference, useRemoteTracks } from './useRemoteTracks';

const visibleSources = [Track.Source.Camera, Track.Source.ScreenShare];

export interface VisibleTracks {
  /** The running cameras of others, by identity. */
  cameras: ReadonlyMap<string, TrackReference>;
  /** The screens of others, in the order they were shared. */
  screens: readonly TrackReference[];
}

/** Returns the video tracks of others that can be shown. */
export function useVisibleTracks(room: Room): VisibleTracks {
  const tracks = useRemoteTracks(room, visibleSources).filter(({ publication }) => !publication.isMuted);
  return {
    cameras: new Map(tracks.filter(({ source }) => source === Track.Source.Camera).map((track) => [track.participant.identity, track])),
    screens: tracks.filter(({ source }) => source === Track.Source.ScreenShare),
  };
}
