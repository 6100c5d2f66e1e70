import { type ReactElement, type RefObject, useLayoutEffect, useRef } from 'react';
import { keepPlaying } from '../../media/keepPlaying';
import { type PictureSize, usePictureSize } from '../../ui/usePictureSize';
import type { TrackReference } from './useRemoteTracks';

interface Props {
  of: TrackReference;
  className?: string;
  onSize?: (size: PictureSize | null) => void;
  /** Is set to the element, for callers that read its picture. */
  element?: RefObject<HTMLVideoElement | null>;
}

/**
 * The video of somebody else. The track is attached as soon as the element exists, because
 * the server sends nothing before it knows the displayed size.
 */
export function RemoteVideo({ of: { publication }, className = 'picture', onSize, element }: Props): ReactElement {
  const internal = useRef<HTMLVideoElement>(null);
  const video = element ?? internal;
  const { track } = publication;
  useLayoutEffect(() => {
    const element = video.current;
    if (!element || !track) return;
    track.attach(element);
    const release = keepPlaying(element);
    return () => {
      release();
      track.detach(element);
    };
  }, [video, track]);
  usePictureSize(video, track, onSize);
  // biome-ignore lint/a11y/noAriaHiddenOnFocusable: a video without controls cannot be focused
  return <video ref={video} className={className} muted playsInline aria-hidden="true" />;
}
