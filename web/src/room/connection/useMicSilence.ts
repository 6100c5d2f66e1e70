import { LocalAudioTrack, type Room, Track } from 'livekit-client';
import { useEffect, useState } from 'react';

/** Milliseconds between two reads. */
const readMs = 5_000;
/** Reads without any sound after which it is told. Even a quiet room makes some noise. */
const silentReads = 6;

/** Returns the energy of all sound that a track has sent; null if the browser does not tell. */
export function sentEnergy(report: Pick<RTCStatsReport, 'forEach'>): number | null {
  let energy: number | null = null;
  report.forEach((entry: RTCStats & { kind?: string; totalAudioEnergy?: number }) => {
    if (entry.type === 'media-source' && entry.kind === 'audio') energy = entry.totalAudioEnergy ?? null;
  });
  return energy;
}

/** Returns whether the microphone has been on for half a minute without delivering any sound. */
export function useMicSilence(room: Room, track: MediaStreamTrack | null): boolean {
  const [silent, setSilent] = useState(false);
  useEffect(() => {
    setSilent(false);
    if (!track) return;
    let before: number | null = null;
    let reads = 0;
    const read = async (): Promise<void> => {
      const published = room.localParticipant.getTrackPublication(Track.Source.Microphone)?.track;
      const report = published instanceof LocalAudioTrack && !document.hidden ? await published.getRTCStatsReport() : undefined;
      const energy = report ? sentEnergy(report) : null;
      reads = energy !== null && energy === before ? reads + 1 : 0;
      before = energy;
      setSilent(reads >= silentReads);
    };
    const timer = setInterval(() => void read().catch(() => undefined), readMs);
    return () => clearInterval(timer);
  }, [room, track]);
  return silent;
}
