import { useEffect, useRef, type ReactElement } from 'react';

interface Props {
  track: MediaStreamTrack;
  /** Stands still: drawing it takes time that something else needs more. */
  paused?: boolean;
}

/** The visitor's own camera: one that looks at them as in a mirror, which nobody else sees so. */
export function LocalVideo({ track, paused = false }: Props): ReactElement {
  const video = useRef<HTMLVideoElement>(null);
  useEffect(() => {
    const element = video.current;
    if (!element) return;
    element.srcObject = new MediaStream([track]);
    return () => {
      element.srcObject = null;
    };
  }, [track]);
  useEffect(() => {
    const element = video.current;
    if (paused) element?.pause();
    else element?.play().catch(() => undefined);
  }, [paused]);
  const facesAway = track.getSettings().facingMode === 'environment';
  return <video ref={video} className={facesAway ? 'picture' : 'picture mirrored'} data-own autoPlay muted playsInline aria-hidden="true" />;
}
