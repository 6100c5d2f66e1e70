export interface Devices {
  mics: MediaDeviceInfo[];
  cameras: MediaDeviceInfo[];
  speakers: MediaDeviceInfo[];
}

export const noDevices: Devices = { mics: [], cameras: [], speakers: [] };

/**
 * What is plugged in. Devices without an id are ones the browser does not name
 * yet; "default" and "communications" are aliases of others in the list.
 */
export async function listDevices(): Promise<Devices> {
  const all = await navigator.mediaDevices.enumerateDevices().catch(() => []);
  const real = all.filter(({ deviceId }) => !['', 'default', 'communications'].includes(deviceId));
  return {
    mics: real.filter((device) => device.kind === 'audioinput'),
    cameras: real.filter((device) => device.kind === 'videoinput'),
    speakers: real.filter((device) => device.kind === 'audiooutput'),
  };
}
