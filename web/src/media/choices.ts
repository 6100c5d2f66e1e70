import { browserMemory } from '../lib/memory';

export type Choice = 'mic' | 'camera' | 'speaker';

/** What this browser's visitor chose before. */
export const choices = {
  device: (kind: Choice): string => browserMemory.get(`parley.device.${kind}`) ?? '',
  chooseDevice: (kind: Choice, id: string): void => browserMemory.set(`parley.device.${kind}`, id),
  micOn: (): boolean => browserMemory.get('parley.mic') !== 'off',
  setMicOn: (on: boolean): void => browserMemory.set('parley.mic', on ? 'on' : 'off'),
  cameraOn: (): boolean => browserMemory.get('parley.camera') !== 'off',
  setCameraOn: (on: boolean): void => browserMemory.set('parley.camera', on ? 'on' : 'off'),
  blur: (): boolean => browserMemory.get('parley.blur') === 'on',
  setBlur: (on: boolean): void => browserMemory.set('parley.blur', on ? 'on' : 'off'),
  noiseSuppression: (): boolean => browserMemory.get('parley.noise-suppression') !== 'off',
  setNoiseSuppression: (on: boolean): void => browserMemory.set('parley.noise-suppression', on ? 'on' : 'off'),
  name: (): string => browserMemory.get('parley.name') ?? '',
  setName: (name: string): void => browserMemory.set('parley.name', name),
};
