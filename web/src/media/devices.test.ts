import { expect, test } from 'vitest';
import { sortDevices } from './devices';

const device = (kind: MediaDeviceKind, deviceId: string, label: string, groupId: string): MediaDeviceInfo => ({
  kind,
  deviceId,
  label,
  groupId,
  toJSON: () => null,
});

test('the default device has the name of the device that it is', () => {
  const { devices, defaultNames } = sortDevices([
    device('audioinput', 'default', 'Default - Headset', 'usb'),
    device('audioinput', 'a', 'Built-in', 'board'),
    device('audioinput', 'b', 'Headset', 'usb'),
    device('videoinput', 'c', 'Camera', 'lid'),
    device('audiooutput', '', '', ''),
    device('audiooutput', 'default', 'Standard - Boxen (USB)', 'other'),
  ]);
  expect(devices.mic.map(({ label }) => label)).toEqual(['Built-in', 'Headset']);
  expect([devices.camera.length, devices.speaker.length]).toEqual([1, 0]);
  expect(defaultNames).toEqual({ mic: 'Headset', camera: '', speaker: 'Boxen (USB)' });
});
