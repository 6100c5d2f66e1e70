import { type RefObject, useLayoutEffect } from 'react';

export interface PictureSize {
  width: number;
  height: number;
}

/** Calls `onSize` with the size of a video's picture when it has its first frame or another size, and with null when it ends. */
export function usePictureSize(
  video: RefObject<HTMLVideoElement | null>,
  track: unknown,
  onSize: ((size: PictureSize | null) => void) | undefined,
): void {
  useLayoutEffect(() => {
    const element = video.current;
    if (!element || !track || !onSize) return;
    const report = (): void => {
      if (element.readyState >= element.HAVE_CURRENT_DATA && element.videoWidth > 0) {
        onSize({ width: element.videoWidth, height: element.videoHeight });
      }
    };
    report();
    element.addEventListener('loadeddata', report);
    element.addEventListener('resize', report);
    return () => {
      element.removeEventListener('loadeddata', report);
      element.removeEventListener('resize', report);
      onSize(null);
    };
  }, [video, track, onSize]);
}
