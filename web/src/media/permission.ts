import type { CaptureKind } from './faults';

const names: Record<CaptureKind, string> = { mic: 'microphone', camera: 'camera' };

/** What the browser would say now, without asking anybody; null where it does not tell. */
export async function permissionFor(kind: CaptureKind): Promise<PermissionStatus | null> {
  try {
    // Older type lists do not know these two names, nor do some browsers.
    return await navigator.permissions.query({ name: names[kind] as PermissionName });
  } catch {
    return null;
  }
}
