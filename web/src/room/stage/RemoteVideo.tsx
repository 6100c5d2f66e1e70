import { type ReactElement, useLayoutEffect, useRef } from 'react';
import type { TrackReference } from './useRemoteTracks';

/**
 * The video of somebody else. The track is attached as soon as the element exists, because
 * the server sends nothing before it knows the displayed size.
 */
export function RemoteVideo({ of: { publication }, uncropped = false }: { of: TrackReference; uncropped?: boolean }): ReactElement {
  const video = useRef<HTMLVideoElement>(null);
  const { track } = publication;
  useLayoutEffect(() => {
    const element = video.current;
    if (!element || !track) return;
    track.attach(element);
    return () => void track.detach(element);
  }, [track]);
  // biome-ignore lint/a11y/noAriaHiddenOnFocusable: a video without controls cannot be focused
  return <video ref={video} className={uncropped ? 'picture uncropped' : 'picture'} muted playsInline aria-hidden="true" />;
}
