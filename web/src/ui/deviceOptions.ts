import type { DeviceKind } from '../media/devicePreferences';
import { deviceInUse, type MediaState } from '../media/mediaState';
import { type PlainKey, t } from '../messages';

export const deviceLabelKeys = {
  mic: 'mic.label',
  camera: 'camera.label',
  speaker: 'speaker.label',
} as const satisfies Record<DeviceKind, PlainKey>;

const defaultKeys = {
  mic: 'mic.default',
  camera: 'camera.default',
  speaker: 'speaker.default',
} as const satisfies Record<DeviceKind, PlainKey>;

// Not every browser can select a speaker.
const canSetSpeaker = typeof HTMLMediaElement === 'function' && 'setSinkId' in HTMLMediaElement.prototype;

export interface DeviceOption {
  /** Empty for the default device. */
  id: string;
  label: string;
}

/** Returns the devices of a kind, the default one first with its real name, and the one in use. */
export function deviceOptions(mediaState: MediaState, kind: DeviceKind): { options: DeviceOption[]; value: string } {
  if (kind === 'speaker' && !canSetSpeaker) return { options: [], value: '' };
  const { devices, defaultNames } = mediaState;
  const name = defaultNames[kind];
  const inUse = deviceInUse(mediaState, kind);
  return {
    options: [
      { id: '', label: name ? t('device.default', { name }) : t(defaultKeys[kind]) },
      ...devices[kind].map(({ deviceId, label }, i) => ({ id: deviceId, label: label || t('device.unnamed', { n: i + 1 }) })),
    ],
    value: devices[kind].some(({ deviceId }) => deviceId === inUse) ? inUse : '',
  };
}
