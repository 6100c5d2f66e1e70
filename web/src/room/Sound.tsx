import { AudioTrack } from '@livekit/components-react';
import { Track, type Room } from 'livekit-client';
import type { ReactElement } from 'react';
import { useRemoteTracks } from './useRemoteTracks';

const audible = [Track.Source.Microphone, Track.Source.ScreenShareAudio];

/** What is heard: one element for each voice, so that the browser plays them even when nobody is drawn. */
export function Sound({ room }: { room: Room }): ReactElement {
  const tracks = useRemoteTracks(room, audible);
  return (
    <div hidden>
      {tracks.map((track) => (
        <AudioTrack key={track.publication.trackSid} trackRef={track} data-identity={track.participant.identity} />
      ))}
    </div>
  );
}
