import { useLayoutEffect, useRef, type ReactElement } from 'react';
import type { TrackReference } from './useRemoteTracks';

/**
 * What somebody sends to be seen. It is attached as soon as it lies in the
 * page: nothing is sent here before the server hears how large it is shown.
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
  return <video ref={video} className={uncropped ? 'picture whole' : 'picture'} muted playsInline aria-hidden="true" />;
}
