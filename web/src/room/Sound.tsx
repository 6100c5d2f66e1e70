import { AudioTrack } from '@livekit/components-react';
import { Track, type Room } from 'livekit-client';
import type { ReactElement } from 'react';
import { useStore } from '../lib/useStore';
import { screenOf } from './stage/pins';
import { volumes } from './stage/volumes';
import { useRemoteTracks } from './useRemoteTracks';

const audible = [Track.Source.Microphone, Track.Source.ScreenShareAudio];

/** What is heard: one element for each voice, so that the browser plays them even when nobody is drawn. */
export function Sound({ room }: { room: Room }): ReactElement {
  const tracks = useRemoteTracks(room, audible);
  const loud = useStore(volumes);
  return (
    <div hidden>
      {tracks.map((track) => {
        const { identity } = track.participant;
        const key = track.source === Track.Source.Microphone ? identity : screenOf(identity);
        return (
          <AudioTrack
            key={track.publication.trackSid}
            trackRef={track}
            volume={loud.get(key) ?? 1}
            data-identity={identity}
            data-source={track.source}
          />
        );
      })}
    </div>
  );
}
