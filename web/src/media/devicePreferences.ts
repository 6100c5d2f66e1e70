import { browserStorage } from '../state/storage';

export type DeviceKind = 'mic' | 'camera' | 'speaker';

/** The device settings that this browser remembers. */
export const devicePreferences = {
  device: (kind: DeviceKind): string => browserStorage.get(`parley.device.${kind}`) ?? '',
  setDevice: (kind: DeviceKind, id: string): void => browserStorage.set(`parley.device.${kind}`, id),
  micOn: (): boolean => browserStorage.get('parley.mic') !== 'off',
  setMicOn: (on: boolean): void => browserStorage.set('parley.mic', on ? 'on' : 'off'),
  cameraOn: (): boolean => browserStorage.get('parley.camera') !== 'off',
  setCameraOn: (on: boolean): void => browserStorage.set('parley.camera', on ? 'on' : 'off'),
  blur: (): boolean => browserStorage.get('parley.blur') === 'on',
  setBlur: (on: boolean): void => browserStorage.set('parley.blur', on ? 'on' : 'off'),
  noiseSuppression: (): boolean => browserStorage.get('parley.noise-suppression') !== 'off',
  setNoiseSuppression: (on: boolean): void => browserStorage.set('parley.noise-suppression', on ? 'on' : 'off'),
  name: (): string => browserStorage.get('parley.name') ?? '',
  setName: (name: string): void => browserStorage.set('parley.name', name),
};
