import { type ReactElement, useRef } from 'react';
import { type PictureSize, usePictureSize } from './usePictureSize';
import { useTrack } from './useTrack';

interface Props {
  track: MediaStreamTrack;
  /** Pauses the video, because drawing it would delay something more important. */
  paused?: boolean;
  /** A class for how the picture is fitted. */
  className?: string;
  onSize?: (size: PictureSize | null) => void;
}

/** The visitor's own camera. A camera that faces the visitor is mirrored, only here. */
export function LocalVideo({ track, paused = false, className = 'picture', onSize }: Props): ReactElement {
  const video = useRef<HTMLVideoElement>(null);
  useTrack(video, track, paused);
  usePictureSize(video, track, onSize);
  const facesAway = track.getSettings().facingMode === 'environment';
  return (
    // biome-ignore lint/a11y/noAriaHiddenOnFocusable: a video without controls cannot be focused
    <video ref={video} className={facesAway ? className : `${className} mirrored`} data-own autoPlay muted playsInline aria-hidden="true" />
  );
}
