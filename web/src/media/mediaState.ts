import type { DeviceKind } from './devicePreferences';
import type { DefaultNames, Devices } from './devices';
import type { CaptureKind, Fault } from './faults';

export type Capture =
  | { is: 'off' }
  /** `live`: another device replaces one that is running. */
  | { is: 'requesting'; live: boolean }
  /** `interrupted`: the system delivers no data for now, for example during a phone call. */
  | { is: 'live'; track: MediaStreamTrack; interrupted: boolean }
  | { is: 'failed'; fault: Fault };

export type ScreenCapture = { is: 'off' } | { is: 'live'; video: MediaStreamTrack; audio: MediaStreamTrack | null } | { is: 'failed' };

export interface MediaState {
  /** The room is a video room. */
  video: boolean;
  /** The kinds that the visitor may publish. Others are never opened. */
  allowed: Record<CaptureKind, boolean>;
  mic: Capture;
  camera: Capture;
  screen: ScreenCapture;
  /** A shared screen is sent as moving pictures, 30 a second, instead of the sharpest text. */
  screenMotion: boolean;
  /** The visitor's setting, whether or not the device works. */
  micOn: boolean;
  cameraOn: boolean;
  /** Whether the background is blurred; null when the browser does not support it. */
  blur: boolean | null;
  /** Whether the browser suppresses noise of the microphone. */
  noiseSuppression: boolean;
  devices: Devices;
  /** The names of the default devices; empty where the browser does not tell. */
  defaultNames: DefaultNames;
  /** Empty means the default device. */
  selectedDevices: Record<DeviceKind, string>;
}

/** Whether a device is running, also while another one replaces it. */
export const isRunning = (capture: Capture): boolean => capture.is === 'live' || (capture.is === 'requesting' && capture.live);

/** Whether there is another device of this kind to choose, also after a failure. */
export const canSelectDevice = (mediaState: MediaState, kind: CaptureKind): boolean =>
  isRunning(mediaState[kind]) || (mediaState[kind].is !== 'off' && mediaState.devices[kind].length > 1);

/** Whether the others can hear the visitor, as far as this page knows. */
export const isMicActive = (mediaState: MediaState): boolean => mediaState.micOn && isRunning(mediaState.mic);

/** Whether the others can see the visitor. */
export const isCameraActive = (mediaState: MediaState): boolean => isRunning(mediaState.camera);

/** Whether the camera that runs is one of a phone, which has another one on its other side. */
export const canFlip = ({ camera, devices }: MediaState): boolean =>
  camera.is === 'live' && camera.track.getSettings().facingMode !== undefined && devices.camera.length > 1;
