import type { DeviceKind } from './devicePreferences';

export type Devices = Record<DeviceKind, MediaDeviceInfo[]>;

export const noDevices: Devices = { mic: [], camera: [], speaker: [] };

/**
 * Lists the connected devices. Entries without an id are devices that the browser does not
 * reveal yet, and "default" and "communications" are aliases, so that both are left out.
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
