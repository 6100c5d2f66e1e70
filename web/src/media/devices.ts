import type { DeviceKind } from './devicePreferences';

export interface Devices extends Record<DeviceKind, MediaDeviceInfo[]> {
  /** The names of the devices that the system uses by default; empty while the browser does not tell. */
  defaultLabels: Record<DeviceKind, string>;
}

export const noDevices: Devices = { mic: [], camera: [], speaker: [], defaultLabels: { mic: '', camera: '', speaker: '' } };

/**
 * Lists the connected devices. Entries without an id are devices that the browser does not
 * reveal yet, and "default" and "communications" are aliases, so that both are left out.
 */
export async function listDevices(): Promise<Devices> {
  return sortDevices(await navigator.mediaDevices.enumerateDevices().catch(() => []));
}

export function sortDevices(all: MediaDeviceInfo[]): Devices {
  const real = (kind: MediaDeviceKind): MediaDeviceInfo[] =>
    all.filter((device) => device.kind === kind && !['', 'default', 'communications'].includes(device.deviceId));
  // An alias has the group of its device, and a label with a word before the name.
  const defaultLabel = (kind: MediaDeviceKind): string => {
    const alias = all.find((device) => device.kind === kind && device.deviceId === 'default');
    return real(kind).find(({ groupId }) => alias && groupId === alias.groupId)?.label ?? '';
  };
  return {
    mic: real('audioinput'),
    camera: real('videoinput'),
    speaker: real('audiooutput'),
    defaultLabels: { mic: defaultLabel('audioinput'), camera: defaultLabel('videoinput'), speaker: defaultLabel('audiooutput') },
  };
}
