import { faultOf, type Fault, type Kind } from './faults';
import { permissionFor } from './permission';

export type Acquired = { track: MediaStreamTrack } | { fault: Fault };

function constraintsFor(kind: Kind, deviceId: string): MediaTrackConstraints {
  // Only wished for: a device that is gone must not keep somebody out.
  const device = deviceId ? { deviceId: { ideal: deviceId } } : {};
  return kind === 'mic'
    ? { ...device, echoCancellation: true, noiseSuppression: true, autoGainControl: true }
    : {
        ...(deviceId ? device : { facingMode: 'user' }),
        width: { ideal: 1280 },
        height: { ideal: 720 },
        frameRate: { ideal: 30 },
      };
}

/** Asks the browser for these devices, for all of them with one question. */
export async function acquire(wishes: { kind: Kind; deviceId: string }[]): Promise<Map<Kind, Acquired>> {
  const got = new Map<Kind, Acquired>();
  try {
    const stream = await navigator.mediaDevices.getUserMedia(
      Object.fromEntries(
        wishes.map(({ kind, deviceId }) => [kind === 'mic' ? 'audio' : 'video', constraintsFor(kind, deviceId)]),
      ),
    );
    for (const { kind } of wishes) {
      const [track] = kind === 'mic' ? stream.getAudioTracks() : stream.getVideoTracks();
      got.set(kind, track ? { track } : { fault: 'unknown' });
    }
  } catch (error) {
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
