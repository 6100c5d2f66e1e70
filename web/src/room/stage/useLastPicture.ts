import { type RefObject, useLayoutEffect, useState } from 'react';

/** A dimmed picture on a tile needs no more pixels. */
const maxWidth = 640;

/**
 * Returns a copy of the picture that a video shows when `keep` becomes true, until it becomes
 * false; null if the video had no picture then.
 */
export function useLastPicture(video: RefObject<HTMLVideoElement | null>, keep: boolean): HTMLCanvasElement | null {
  const [picture, setPicture] = useState<HTMLCanvasElement | null>(null);
  useLayoutEffect(() => {
    setPicture(keep && video.current ? copyPicture(video.current) : null);
  }, [video, keep]);
  return keep ? picture : null;
}

function copyPicture(video: HTMLVideoElement): HTMLCanvasElement | null {
  if (video.readyState < video.HAVE_CURRENT_DATA || video.videoWidth === 0) return null;
  const canvas = document.createElement('canvas');
  const scale = Math.min(1, maxWidth / video.videoWidth);
  canvas.width = Math.round(video.videoWidth * scale);
  canvas.height = Math.round(video.videoHeight * scale);
  canvas.getContext('2d')?.drawImage(video, 0, 0, canvas.width, canvas.height);
  return canvas;
}
