import { ConnectionQuality, type Participant, RemoteTrack, Track } from 'livekit-client';
import { useEffect, useState } from 'react';
import { useMeetingMedia } from '../meeting';
import { type Arrival, type FlowWatch, flowOf, type MediaFlow, untilNextRead, watchFlow } from './mediaFlow';
import { useConnectionQuality } from './useConnectionQuality';

export type ParticipantConnection = 'fine' | 'weak' | 'lost';

/**
 * Returns the state of a participant's connection. The server needs ten seconds to report that
 * a connection is lost, and as long to report that it is back, so media that stops or arrives
 * decides first.
 */
export function useParticipantConnection(participant: Participant): ParticipantConnection {
  const quality = useConnectionQuality(participant);
  const flow = useMediaFlow(participant);
  if (flow === 'stopped') return 'lost';
  if (quality === ConnectionQuality.Lost) return flow === 'flowing' ? 'fine' : 'lost';
  return quality === ConnectionQuality.Poor ? 'weak' : 'fine';
}

function useMediaFlow(participant: Participant): MediaFlow {
  const { connectionLost, packets } = useMeetingMedia();
  const [flow, setFlow] = useState<MediaFlow>('unknown');
  useEffect(() => {
    setFlow('unknown');
    // Without a connection of the page no media arrives, so nothing is known about the others.
    if (connectionLost || participant.isLocal) return;
    let watch: FlowWatch | null = null;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const read = (): void => {
      watch = document.hidden ? null : watchFlow(watch, arrivalsOf(participant), performance.now());
      setFlow(watch ? flowOf(watch, packets.packetAt) : 'unknown');
      timer = setTimeout(read, untilNextRead(watch));
    };
    read();
    return () => clearTimeout(timer);
  }, [participant, connectionLost, packets]);
  return flow;
}

/** Returns microphone and camera, if they should arrive: a shared screen may stand still. */
function arrivalsOf(participant: Participant): Arrival[] {
  return [Track.Source.Microphone, Track.Source.Camera].flatMap((source) => {
    const publication = participant.getTrackPublication(source);
    const track = publication?.track;
    if (!(track instanceof RemoteTrack) || publication?.isMuted || !publication?.isEnabled) return [];
    if (track.streamState === Track.StreamState.Paused) return [];
    const sources = track.receiver?.getSynchronizationSources() ?? [];
    return [{ sid: publication.trackSid, playedAt: Math.max(0, ...sources.map(({ timestamp }) => timestamp)) }];
  });
}
