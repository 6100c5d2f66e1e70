import { type RefObject, useEffect } from 'react';
import { keepPlaying } from '../media/keepPlaying';

/** Shows a track in a video element, and plays it unless `paused`. */
export function useTrack(video: RefObject<HTMLVideoElement | null>, track: MediaStreamTrack, paused: boolean): void {
  useEffect(() => {
    const element = video.current;
    if (!element) return;
    element.srcObject = new MediaStream([track]);
    return () => {
      element.srcObject = null;
    };
  }, [video, track]);
  // Also for another track, because an element with `autoPlay` plays a new stream.
  useEffect(() => {
    const element = video.current;
    if (!element) return;
    if (!paused) return keepPlaying(element);
    element.pause();
  }, [video, track, paused]);
}
