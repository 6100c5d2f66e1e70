import { Store } from '../../lib/store';

declare global {
  interface Window {
    /** Where the browser has it. */
    documentPictureInPicture?: { requestWindow(size: { width: number; height: number }): Promise<Window> };
  }
}

/** The small window that stays above all others, while there is one. */
export const pipWindow = new Store<Window | null>(null);

/** The picture of somebody else that is largest, for browsers that lift only a picture out of the page. */
const largestRemoteVideo = (): HTMLVideoElement | null =>
  document.querySelector('.tile[data-large] video:not([data-own])') ?? document.querySelector('.tiles video:not([data-own])');

/** Whether something can be lifted out of the page now; only the page itself gets a window, not a frame in another. */
export const canPip = (): boolean =>
  (window.documentPictureInPicture !== undefined && window.top === window) ||
  (document.pictureInPictureEnabled === true && largestRemoteVideo()?.requestPictureInPicture !== undefined);

/** Lifts it out: after a press, as browsers want it. */
export async function openPip(): Promise<void> {
  try {
    if (window.documentPictureInPicture && window.top === window) {
      const opened = await window.documentPictureInPicture.requestWindow({ width: 384, height: 304 });
      copyPageStyle(opened.document);
      opened.addEventListener('pagehide', () => pipWindow.set(null));
      pipWindow.set(opened);
    } else {
      await largestRemoteVideo()?.requestPictureInPicture();
    }
  } catch {
    // Refused by the browser: everything stays where it is.
  }
}

/** The window speaks and looks as the page does: the policy allows style sheets of this host only. */
function copyPageStyle(inside: Document): void {
  const { lang, dir } = document.documentElement;
  Object.assign(inside.documentElement, { lang, dir });
  inside.title = document.title;
  for (const { href } of document.querySelectorAll<HTMLLinkElement>('link[rel="stylesheet"]')) {
    inside.head.append(Object.assign(inside.createElement('link'), { rel: 'stylesheet', href }));
  }
}
