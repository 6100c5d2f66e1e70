import type { Choice } from './choices';
import type { Devices } from './devices';
import type { Fault, Kind } from './faults';

export type Capture =
  | { is: 'off' }
  /** `live` when another device takes the place of one that runs. */
  | { is: 'asking'; live: boolean }
  /** `withheld`: the system gives nothing of it for now, during a phone call, say. */
  | { is: 'live'; track: MediaStreamTrack; withheld: boolean }
  | { is: 'failed'; fault: Fault };

export type ScreenCapture =
  | { is: 'off' }
  | { is: 'live'; video: MediaStreamTrack; audio: MediaStreamTrack | null }
  | { is: 'failed' };

export interface Desk {
  /** A video room: there is a camera to speak of. */
  video: boolean;
  /** What the visitor may send; nothing else is opened. */
  may: Record<Kind, boolean>;
  mic: Capture;
  camera: Capture;
  screen: ScreenCapture;
  /** What the visitor wants, whether or not the device goes along. */
  micOn: boolean;
  cameraOn: boolean;
  /** Whether what is behind the visitor is blurred; null where the browser does not do that. */
  blur: boolean | null;
  /** Whether the browser is to take noise out of what the microphone hears. */
  noiseSuppression: boolean;
  devices: Devices;
  /** Chosen devices; empty means the usual one. */
  chosen: Record<Choice, string>;
}

/** Whether a device runs, if only for another to take its place. */
export const runs = (capture: Capture): boolean => capture.is === 'live' || (capture.is === 'asking' && capture.live);

/** Whether there is a device of that kind to take instead, also of one that failed. */
export const canChoose = (desk: Desk, kind: Kind): boolean =>
  runs(desk[kind]) || (desk[kind].is !== 'off' && desk.devices[kind].length > 1);

/** Whether others hear the visitor, as far as this page is concerned. */
export const isHeard = (desk: Desk): boolean => desk.micOn && runs(desk.mic);

/** Whether others see the visitor. */
export const isSeen = (desk: Desk): boolean => runs(desk.camera);
