import { LocalAudioTrack, type Room, Track } from 'livekit-client';
import { useEffect, useState } from 'react';
import { SilenceWatch, sentEnergy } from './silence';

/** Milliseconds between two reads. */
const readMs = 5_000;

/** Returns whether the microphone has been on for half a minute without delivering any sound. */
export function useMicSilence(room: Room, track: MediaStreamTrack | null): boolean {
  const [silent, setSilent] = useState(false);
  useEffect(() => {
    setSilent(false);
    if (!track) return;
    const watch = new SilenceWatch();
    const read = async (): Promise<void> => {
      const published = room.localParticipant.getTrackPublication(Track.Source.Microphone)?.track;
      const report = published instanceof LocalAudioTrack && !document.hidden ? await published.getRTCStatsReport() : undefined;
      setSilent(watch.isSilent(report ? sentEnergy(report) : null));
    };
    const timer = setInterval(() => void read().catch(() => undefined), readMs);
    return () => clearInterval(timer);
  }, [room, track]);
  return silent;
}
