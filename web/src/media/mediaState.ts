import type { DeviceKind } from './devicePreferences';
import type { DefaultNames, Devices } from './devices';
import type { CaptureKind, Fault } from './faults';

export type Capture =
  | { is: 'off' }
  /** `live`: another device replaces one that is running. */
  | { is: 'requesting'; live: boolean }
  /**
   * `interrupted`: the system delivers no data for now, for example during a phone call.
   * `deviceId`: the device that is used; empty for the system's default.
   */
  | { is: 'live'; track: MediaStreamTrack; interrupted: boolean; deviceId: string }
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
  /** Whether the visitor wants the browser to suppress noise of the microphone. */
  noiseSuppression: boolean;
  devices: Devices;
  /** The names of the default devices; empty where the browser does not tell. */
  defaultNames: DefaultNames;
  /** The devices that the visitor has chosen, whether or not they are connected. Empty means the default device. */
  selectedDevices: Record<DeviceKind, string>;
  /** The speaker that plays the others; empty for the default one, null while nothing is played. */
  speaker: string | null;
}

/** Returns the device that will be opened: the chosen one if it is connected, else the default one, whose id is empty. */
export function deviceToOpen({ devices, selectedDevices }: Pick<MediaState, 'devices' | 'selectedDevices'>, kind: DeviceKind): string {
  const selected = selectedDevices[kind];
  // Before the first permission the browser tells no ids.
  const known = devices[kind].length > 0;
  return !known || devices[kind].some(({ deviceId }) => deviceId === selected) ? selected : '';
}

/** Returns the device that is in use, or that will be. Empty means the default device. */
export function deviceInUse(
  mediaState: Pick<MediaState, 'devices' | 'selectedDevices' | 'mic' | 'camera' | 'speaker'>,
  kind: DeviceKind,
): string {
  if (kind === 'speaker') return mediaState.speaker ?? deviceToOpen(mediaState, kind);
  const capture = mediaState[kind];
  return capture.is === 'live' ? capture.deviceId : deviceToOpen(mediaState, kind);
}

/** Whether noise is suppressed: not every system does what the visitor wants. */
export const suppressesNoise = ({ mic, noiseSuppression }: MediaState): boolean =>
  (mic.is === 'live' ? mic.track.getSettings().noiseSuppression : undefined) ?? noiseSuppression;

/** Whether a device is running, also while another one replaces it. */
export const isRunning = (capture: Capture): boolean => capture.is === 'live' || (capture.is === 'requesting' && capture.live);

/** Whether there is another device of this kind to choose, also after a failure. */
export const canSelectDevice = (mediaState: MediaState, kind: CaptureKind): boolean =>
  isRunning(mediaState[kind]) || (mediaState[kind].is !== 'off' && mediaState.devices[kind].length > 1);

/** Whether the others can hear the visitor, as far as this page knows. */
export const isMicActive = (mediaState: MediaState): boolean => mediaState.micOn && isRunning(mediaState.mic);

/**
 * Whether holding a key may unmute the visitor. It may not if the visitor is unmuted and the microphone is on or opening,
 * because releasing the key would mute it.
 */
export const canPushToTalk = ({ micOn, mic }: Pick<MediaState, 'micOn' | 'mic'>): boolean =>
  !micOn || (mic.is !== 'live' && mic.is !== 'requesting');

/** Whether the others can see the visitor. */
export const isCameraActive = (mediaState: MediaState): boolean => isRunning(mediaState.camera);

/** Whether the camera that runs is one of a phone, which has another one on its other side. */
export const canFlip = ({ camera, devices }: MediaState): boolean =>
  camera.is === 'live' && camera.track.getSettings().facingMode !== undefined && devices.camera.length > 1;
