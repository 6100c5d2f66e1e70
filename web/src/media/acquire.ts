import { faultOf, type Fault, type Kind } from './faults';
import { permissionFor } from './permission';

/** A device that is wanted; without an id, the usual one. */
export interface Wish {
  kind: Kind;
  deviceId: string;
  /** Of a microphone only. */
  noiseSuppression: boolean;
}

export type Acquired = { track: MediaStreamTrack } | { fault: Fault };

function constraintsFor({ kind, deviceId, noiseSuppression }: Wish): MediaTrackConstraints {
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
export async function acquire(wishes: Wish[]): Promise<Map<Kind, Acquired>> {
  const got = new Map<Kind, Acquired>();
  try {
    const stream = await navigator.mediaDevices.getUserMedia(
      Object.fromEntries(
        wishes.map((wish) => [wish.kind === 'mic' ? 'audio' : 'video', constraintsFor(wish)]),
      ),
    );
    for (const { kind } of wishes) {
      const [track] = kind === 'mic' ? stream.getAudioTracks() : stream.getVideoTracks();
      got.set(kind, track ? { track } : { fault: 'unknown' });
    }
  } catch (error) {
    const [only, ...others] = wishes;
    // A device that is gone keeps nobody out: the usual one takes its place.
    if (only?.deviceId && others.length === 0 && isGone(error)) return acquire([{ ...only, deviceId: '' }]);
    for (const wish of wishes) {
      const permission = (await permissionFor(wish.kind))?.state ?? null;
      const fault = faultOf(error, permission);
      // One of two can fail both. Alone, a device that is allowed or was never
      // refused may still come; one that was refused would be asked for twice.
      const refused = fault === 'blocked' || fault === 'dismissed' || fault === 'system';
      const mayComeAlone = wishes.length > 1 && (!refused || permission === 'granted');
      const alone = mayComeAlone ? (await acquire([wish])).get(wish.kind) : undefined;
      got.set(wish.kind, alone ?? { fault });
    }
  }
  return got;
}

/** Whether no device has the id that was asked for. Not every browser's OverconstrainedError is an Error. */
function isGone(error: unknown): boolean {
  const name = typeof error === 'object' && error !== null && 'name' in error ? error.name : '';
  return name === 'OverconstrainedError' || name === 'NotFoundError';
}
