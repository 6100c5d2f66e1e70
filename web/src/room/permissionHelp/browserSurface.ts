/** The kinds of browsers that have different places for permissions. */
export type BrowserSurface = 'chrome' | 'android' | 'firefox' | 'safari' | 'ios' | 'iosApp' | 'app' | 'frame' | 'other';

export interface BrowserInfo {
  userAgent: string;
  touchPoints: number;
  /** The page is in a frame, and the embedding page may block the device. */
  framed: boolean;
}

/** In-app browsers: by their own names, and by the marks of Android's and iOS's web views. */
const inAppBrowsers = /FBAN|FBAV|Instagram|Line\/|MicroMessenger|LinkedInApp|Snapchat|TikTok|musical_ly|Twitter for|; wv\)|GSA\//;

export function detectBrowserSurface({ userAgent, touchPoints, framed }: BrowserInfo): BrowserSurface {
  if (framed) return 'frame';
  // An iPad reports a Mac.
  const ios = /iPhone|iPad|iPod/.test(userAgent) || (/Macintosh/.test(userAgent) && touchPoints > 1);
  if (inAppBrowsers.test(userAgent) || (ios && !/Safari\//.test(userAgent))) return 'app';
  if (ios) return /CriOS|FxiOS|EdgiOS|OPiOS|DuckDuckGo/.test(userAgent) ? 'iosApp' : 'ios';
  // Firefox on Android has the menu of Chrome there, and no about:config.
  if (/Firefox\//.test(userAgent)) return /Android/.test(userAgent) ? 'android' : 'firefox';
  if (/Chrom(?:e|ium)\//.test(userAgent)) return /Android/.test(userAgent) ? 'android' : 'chrome';
  return /Safari\//.test(userAgent) && /Macintosh/.test(userAgent) ? 'safari' : 'other';
}

/** Chromium reports whether the embedding page allows the device. */
type DocumentWithPolicy = Document & { featurePolicy?: { allowsFeature: (name: string) => boolean } };

export function currentBrowserSurface(device: 'microphone' | 'camera'): BrowserSurface {
  const framed = parent !== window && !(document as DocumentWithPolicy).featurePolicy?.allowsFeature(device);
  return detectBrowserSurface({ userAgent: navigator.userAgent, touchPoints: navigator.maxTouchPoints, framed });
}
