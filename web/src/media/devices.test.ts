import { expect, test } from 'vitest';
import { sortDevices } from './devices';

const device = (kind: MediaDeviceKind, deviceId: string, label: string, groupId: string): MediaDeviceInfo =>
  ({ kind, deviceId, label, groupId }) as MediaDeviceInfo;

test('aliases and hidden devices are left out, and the default one has the name of its device', () => {
  const devices = sortDevices([
    device('audioinput', 'default', 'Default - MacBook Microphone', 'built in'),
    device('audioinput', 'communications', 'Communications - Headset', 'usb'),
    device('audioinput', 'a', 'Headset', 'usb'),
    device('audioinput', 'b', 'MacBook Microphone', 'built in'),
    device('audiooutput', 'default', 'Default - Unknown', 'gone'),
    device('audiooutput', 'c', 'MacBook Speaker', 'built in'),
    device('videoinput', '', '', ''),
  ]);
  expect([devices.mic, devices.camera, devices.speaker].map((list) => list.map(({ label }) => label))).toEqual([
    ['Headset', 'MacBook Microphone'],
    [],
    ['MacBook Speaker'],
  ]);
  expect(devices.defaultLabels).toEqual({ mic: 'MacBook Microphone', camera: '', speaker: '' });
});
