import { AudioTrack, useTracks } from '@livekit/components-react';
import { Track, type Room } from 'livekit-client';
import type { ReactElement } from 'react';

/** What is heard: one element for each voice, so that the browser plays them even when nobody is drawn. */
export function Sound({ room }: { room: Room }): ReactElement {
  const tracks = useTracks([Track.Source.Microphone, Track.Source.ScreenShareAudio], { room, onlySubscribed: true });
  return (
    <div hidden>
      {tracks
        .filter(({ participant }) => !participant.isLocal)
        .map((track) => (
          <AudioTrack key={track.publication.trackSid} trackRef={track} data-identity={track.participant.identity} />
        ))}
    </div>
  );
}
