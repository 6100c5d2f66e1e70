import { useEffect, useRef, type ReactElement } from 'react';

/** The visitor's own camera, as in a mirror; nobody but the visitor sees it so. */
export function Picture({ track }: { track: MediaStreamTrack }): ReactElement {
  const video = useRef<HTMLVideoElement>(null);
  useEffect(() => {
    const element = video.current;
    if (!element) return;
    element.srcObject = new MediaStream([track]);
    return () => {
      element.srcObject = null;
    };
  }, [track]);
  return <video ref={video} className="picture mirrored" autoPlay muted playsInline aria-hidden="true" />;
}
