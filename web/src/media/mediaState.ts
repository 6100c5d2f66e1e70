import type { DeviceKind } from './devicePreferences';
import type { Devices } from './devices';
import type { Fault, CaptureKind } from './faults';

export type Capture =
  | { is: 'off' }
  /** `live` when another device takes the place of one that runs. */
  | { is: 'requesting'; live: boolean }
  /** `withheld`: the system gives nothing of it for now, during a phone call, say. */
  | { is: 'live'; track: MediaStreamTrack; interrupted: boolean }
  | { is: 'failed'; fault: Fault };

export type ScreenCapture =
  | { is: 'off' }
  | { is: 'live'; video: MediaStreamTrack; audio: MediaStreamTrack | null }
  | { is: 'failed' };

export interface MediaState {
  /** A video room: there is a camera to speak of. */
  video: boolean;
  /** What the visitor may send; nothing else is opened. */
  allowed: Record<CaptureKind, boolean>;
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
  selectedDevices: Record<DeviceKind, string>;
}

/** Whether a device runs, if only for another to take its place. */
export const isRunning = (capture: Capture): boolean => capture.is === 'live' || (capture.is === 'requesting' && capture.live);

/** Whether there is a device of that kind to take instead, also of one that failed. */
export const canSelectDevice = (mediaState: MediaState, kind: CaptureKind): boolean =>
  isRunning(mediaState[kind]) || (mediaState[kind].is !== 'off' && mediaState.devices[kind].length > 1);

/** Whether others hear the visitor, as far as this page is concerned. */
export const isMicActive = (mediaState: MediaState): boolean => mediaState.micOn && isRunning(mediaState.mic);

/** Whether others see the visitor. */
export const isCameraActive = (mediaState: MediaState): boolean => isRunning(mediaState.camera);
