import { type CaptureKind, type Fault, faultOf } from './faults';
import { permissionFor } from './permission';

/** A device to open. An empty id means the default device. */
export interface DeviceRequest {
  kind: CaptureKind;
  deviceId: string;
  /** Only for a microphone. */
  noiseSuppression: boolean;
  /** Only for a camera: the side of a phone, when no device is named. */
  facing: 'user' | 'environment';
}

/** A track, with the id of the device if one was named, or why there is none. */
export type Acquired = { track: MediaStreamTrack; requestedId: string } | { fault: Fault };

function constraintsFor({ kind, deviceId, noiseSuppression, facing }: DeviceRequest): MediaTrackConstraints {
  // `exact`, because with `ideal` Chromium would choose a device itself.
  const device = deviceId ? { deviceId: { exact: deviceId } } : {};
  return kind === 'mic'
    ? { ...device, echoCancellation: true, noiseSuppression, autoGainControl: true }
    : {
        ...(deviceId ? device : { facingMode: facing }),
        width: { ideal: 1280 },
        height: { ideal: 720 },
        frameRate: { ideal: 30 },
      };
}

/**
 * Opens these devices with a single permission prompt. `isWanted` is asked before anything is requested again,
 * because the visitor may have left while the prompt was open.
 */
export async function acquire(requests: DeviceRequest[], isWanted: (kind: CaptureKind) => boolean): Promise<Map<CaptureKind, Acquired>> {
  const results = new Map<CaptureKind, Acquired>();
  try {
    const stream = await navigator.mediaDevices.getUserMedia(
      Object.fromEntries(requests.map((request) => [request.kind === 'mic' ? 'audio' : 'video', constraintsFor(request)])),
    );
    for (const { kind, deviceId } of requests) {
      const [track] = kind === 'mic' ? stream.getAudioTracks() : stream.getVideoTracks();
      // Some systems return a track that has already ended.
      results.set(kind, track?.readyState === 'live' ? { track, requestedId: deviceId } : { fault: 'unknown' });
    }
  } catch (error) {
    const [first, ...others] = requests;
    // The selected device is unplugged: use the default device instead.
    if (first?.deviceId && others.length === 0 && isDeviceMissing(error) && isWanted(first.kind)) {
      return acquire([{ ...first, deviceId: '' }], isWanted);
    }
    for (const request of requests) {
      const permission = (await permissionFor(request.kind))?.state ?? null;
      const fault = faultOf(error, permission);
      // One of two devices can make the whole request fail. A device that is allowed or
      // was never denied is requested again alone; a denied one is not, because the
      // browser would ask twice.
      const denied = fault === 'blocked' || fault === 'dismissed' || fault === 'system';
      const mayRetryAlone = requests.length > 1 && (!denied || permission === 'granted') && isWanted(request.kind);
      const single = mayRetryAlone ? (await acquire([request], isWanted)).get(request.kind) : undefined;
      results.set(request.kind, single ?? { fault });
    }
  }
  return results;
}

/**
 * Whether the error says that no device has this id. OverconstrainedError is not an Error
 * in every browser.
 */
function isDeviceMissing(error: unknown): boolean {
  const name = typeof error === 'object' && error !== null && 'name' in error ? error.name : '';
  return name === 'OverconstrainedError' || name === 'NotFoundError';
}
