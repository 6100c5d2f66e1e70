import type { DeviceKind } from './devicePreferences';

export type Devices = Record<DeviceKind, MediaDeviceInfo[]>;

export const noDevices: Devices = { mic: [], camera: [], speaker: [] };

/** The names of the devices that the system uses by default; empty where the browser does not tell. */
export type DefaultNames = Record<DeviceKind, string>;

export const noDefaultNames: DefaultNames = { mic: '', camera: '', speaker: '' };

const kinds = { mic: 'audioinput', camera: 'videoinput', speaker: 'audiooutput' } as const;

/** Lists the connected devices and the names of the default ones. */
export async function listDevices(): Promise<{ devices: Devices; defaultNames: DefaultNames }> {
  return sortDevices(await navigator.mediaDevices.enumerateDevices().catch(() => []));
}

/**
 * Entries without an id are devices that the browser does not reveal yet, and "default" and
 * "communications" are aliases, so that both are left out.
 */
export function sortDevices(all: readonly MediaDeviceInfo[]): { devices: Devices; defaultNames: DefaultNames } {
  const real = all.filter(({ deviceId }) => !['', 'default', 'communications'].includes(deviceId));
  const of = (kind: DeviceKind): MediaDeviceInfo[] => real.filter((device) => device.kind === kinds[kind]);
  const defaultName = (kind: DeviceKind): string => {
    const alias = all.find((device) => device.kind === kinds[kind] && device.deviceId === 'default');
    // The alias belongs to the same physical device, whose own label has no prefix such as "Default - ".
    const same = alias && of(kind).find(({ groupId }) => groupId !== '' && groupId === alias.groupId);
    return same?.label ?? alias?.label.replace(/^[^-]+ - /, '') ?? '';
  };
  return {
    devices: { mic: of('mic'), camera: of('camera'), speaker: of('speaker') },
    defaultNames: { mic: defaultName('mic'), camera: defaultName('camera'), speaker: defaultName('speaker') },
  };
}
