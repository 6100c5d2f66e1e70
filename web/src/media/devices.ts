import type { DeviceKind } from './devicePreferences';

export type Devices = Record<DeviceKind, MediaDeviceInfo[]>;

export const noDevices: Devices = { mic: [], camera: [], speaker: [] };

/**
 * What is plugged in. Devices without an id are ones the browser does not name
 * yet; "default" and "communications" are aliases of others in the list.
 */
export async function listDevices(): Promise<Devices> {
  const all = await navigator.mediaDevices.enumerateDevices().catch(() => []);
  const real = all.filter(({ deviceId }) => !['', 'default', 'communications'].includes(deviceId));
  return {
    mic: real.filter((device) => device.kind === 'audioinput'),
    camera: real.filter((device) => device.kind === 'videoinput'),
    speaker: real.filter((device) => device.kind === 'audiooutput'),
  };
}
