import type { CaptureKind } from './faults';

const names: Record<CaptureKind, string> = { mic: 'microphone', camera: 'camera' };

/** Returns the permission status without a prompt; null when the browser does not support it. */
export async function permissionFor(kind: CaptureKind): Promise<PermissionStatus | null> {
  try {
    // The type lists of older TypeScript versions and some browsers do not know these names.
    return await navigator.permissions.query({ name: names[kind] as PermissionName });
  } catch {
    return null;
  }
}
