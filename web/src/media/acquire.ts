import { faultOf, type Fault, type CaptureKind } from './faults';
import { permissionFor } from './permission';

/** A device that is wanted; without an id, the usual one. */
export interface DeviceRequest {
  kind: CaptureKind;
  deviceId: string;
  /** Of a microphone only. */
  noiseSuppression: boolean;
}

export type Acquired = { track: MediaStreamTrack } | { fault: Fault };

function constraintsFor({ kind, deviceId, noiseSuppression }: DeviceRequest): MediaTrackConstraints {
  // Merely wished for, Chromium would take its own favourite instead.
  const device = deviceId ? { deviceId: { exact: deviceId } } : {};
  return kind === 'mic'
    ? { ...device, echoCancellation: true, noiseSuppression, autoGainControl: true }
    : {
        ...(deviceId ? device : { facingMode: 'user' }),
        width: { ideal: 1280 },
        height: { ideal: 720 },
        frameRate: { ideal: 30 },
      };
}

/** Asks the browser for these devices, for all of them with one question. */
export async function acquire(requests: DeviceRequest[]): Promise<Map<CaptureKind, Acquired>> {
  const results = new Map<CaptureKind, Acquired>();
  try {
    const stream = await navigator.mediaDevices.getUserMedia(
      Object.fromEntries(
        requests.map((request) => [request.kind === 'mic' ? 'audio' : 'video', constraintsFor(request)]),
      ),
    );
    for (const { kind } of requests) {
      const [track] = kind === 'mic' ? stream.getAudioTracks() : stream.getVideoTracks();
      results.set(kind, track ? { track } : { fault: 'unknown' });
    }
  } catch (error) {
    const [first, ...others] = requests;
    // A device that is gone keeps nobody out: the usual one takes its place.
    if (first?.deviceId && others.length === 0 && isDeviceMissing(error)) return acquire([{ ...first, deviceId: '' }]);
    for (const request of requests) {
      const permission = (await permissionFor(request.kind))?.state ?? null;
      const fault = faultOf(error, permission);
      // One of two can fail both. Alone, a device that is allowed or was never
      // refused may still come; one that was refused would be asked for twice.
      const denied = fault === 'blocked' || fault === 'dismissed' || fault === 'system';
      const mayRetryAlone = requests.length > 1 && (!denied || permission === 'granted');
      const single = mayRetryAlone ? (await acquire([request])).get(request.kind) : undefined;
      results.set(request.kind, single ?? { fault });
    }
  }
  return results;
}

/** Whether no device has the id that was asked for. Not every browser's OverconstrainedError is an Error. */
function isDeviceMissing(error: unknown): boolean {
  const name = typeof error === 'object' && error !== null && 'name' in error ? error.name : '';
  return name === 'OverconstrainedError' || name === 'NotFoundError';
}
