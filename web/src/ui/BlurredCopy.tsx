import { type ReactElement, useRef } from 'react';
import { useTrack } from './useTrack';

interface Props {
  track: MediaStreamTrack;
  /** Pauses the video, because drawing it would delay something more important. */
  paused?: boolean;
}

/** Fills a tile around a picture of another shape. LiveKit does not know it, so that it requests no larger video. */
export function BlurredCopy({ track, paused = false }: Props): ReactElement {
  const video = useRef<HTMLVideoElement>(null);
  useTrack(video, track, paused);
  // biome-ignore lint/a11y/noAriaHiddenOnFocusable: a video without controls cannot be focused
  return <video ref={video} className="picture blurred" muted playsInline aria-hidden="true" />;
}
