import { Store } from '../../state/store';

declare global {
  interface Window {
    /** Undefined in browsers that do not support it. */
    documentPictureInPicture?: { requestWindow(size: { width: number; height: number }): Promise<Window> };
  }
}

/** The picture-in-picture window while it is open. */
export const pipWindow = new Store<Window | null>(null);

/** Returns the largest video of somebody else, for browsers whose picture-in-picture shows only a video. */
const largestRemoteVideo = (): HTMLVideoElement | null =>
  document.querySelector('.tile[data-large] video:not([data-own], .blurred)') ??
  document.querySelector('.tiles video:not([data-own], .blurred)');

/** Whether picture-in-picture is possible now. Only a top-level page gets a window. */
export const canPip = (): boolean =>
  (window.documentPictureInPicture !== undefined && window.top === window) ||
  (document.pictureInPictureEnabled === true && largestRemoteVideo()?.requestPictureInPicture !== undefined);

/** A room is shown whose content can be moved to the window. */
let hasRoom = false;

/** Allows the window while the room is shown. The function closes it, also one that opens later. */
export function allowPip(): () => void {
  hasRoom = true;
  return () => {
    hasRoom = false;
    pipWindow.get()?.close();
  };
}

/** Opens picture-in-picture. Browsers require a gesture. */
export async function openPip(): Promise<void> {
  try {
    if (window.documentPictureInPicture && window.top === window) {
      const opened = await window.documentPictureInPicture.requestWindow({ width: 384, height: 304 });
      if (!hasRoom) return opened.close();
      copyPageStyle(opened.document);
      opened.addEventListener('pagehide', () => pipWindow.set(null));
      pipWindow.set(opened);
    } else {
      await largestRemoteVideo()?.requestPictureInPicture();
    }
  } catch {
    // The browser has refused. Nothing changes.
  }
}

/** Returns from the picture-in-picture window to the tab. */
export function closePip(): void {
  window.focus();
  pipWindow.get()?.close();
}

/** Copies language, direction and style sheets, because the policy allows only style sheets of this host. */
function copyPageStyle(inside: Document): void {
  const { lang, dir } = document.documentElement;
  Object.assign(inside.documentElement, { lang, dir });
  inside.title = document.title;
  for (const { href } of document.querySelectorAll<HTMLLinkElement>('link[rel="stylesheet"]')) {
    inside.head.append(Object.assign(inside.createElement('link'), { rel: 'stylesheet', href }));
  }
}
