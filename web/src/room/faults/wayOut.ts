/** Where somebody has to go to allow a device that is blocked: every browser hides it somewhere else. */
export type WayOut = 'chrome' | 'android' | 'firefox' | 'safari' | 'ios' | 'iosApp' | 'app' | 'frame' | 'other';

export interface Surroundings {
  userAgent: string;
  touchPoints: number;
  /** The page is shown in a frame, and the page around it may be what blocks. */
  framed: boolean;
}

/** Apps that show links by themselves: by their own names, and as Android and iOS mark their views. */
const apps = /FBAN|FBAV|Instagram|Line\/|MicroMessenger|LinkedInApp|Snapchat|TikTok|musical_ly|Twitter for|; wv\)|GSA\//;

export function wayOutOf({ userAgent, touchPoints, framed }: Surroundings): WayOut {
  if (framed) return 'frame';
  // An iPad says that it is a Mac.
  const ios = /iPhone|iPad|iPod/.test(userAgent) || (/Macintosh/.test(userAgent) && touchPoints > 1);
  if (apps.test(userAgent) || (ios && !/Safari\//.test(userAgent))) return 'app';
  if (ios) return /CriOS|FxiOS|EdgiOS|OPiOS|DuckDuckGo/.test(userAgent) ? 'iosApp' : 'ios';
  if (/Firefox\//.test(userAgent)) return 'firefox';
  if (/Chrom(?:e|ium)\//.test(userAgent)) return /Android/.test(userAgent) ? 'android' : 'chrome';
  return /Safari\//.test(userAgent) && /Macintosh/.test(userAgent) ? 'safari' : 'other';
}

/** Chromium says whether the page around a frame lets it use a device. */
type Policied = Document & { featurePolicy?: { allowsFeature: (name: string) => boolean } };

export function wayOut(device: 'microphone' | 'camera'): WayOut {
  const framed = parent !== window && !(document as Policied).featurePolicy?.allowsFeature(device);
  return wayOutOf({ userAgent: navigator.userAgent, touchPoints: navigator.maxTouchPoints, framed });
}
