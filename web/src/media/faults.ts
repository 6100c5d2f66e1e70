export type CaptureKind = 'mic' | 'camera';
export type Fault = 'blocked' | 'dismissed' | 'system' | 'missing' | 'busy' | 'insecure' | 'app' | 'unknown';

/**
 * What went wrong, as far as the way out differs. Browsers use one name for a
 * person's no, a remembered no and the operating system's no; only the
 * permission that stands afterwards and the message tell them apart.
 */
export function faultOf(error: unknown, permission: PermissionState | null): Fault {
  if (!(error instanceof Error)) return 'unknown';
  switch (error.name) {
    case 'NotAllowedError':
    case 'PermissionDeniedError':
      if (/system/i.test(error.message)) return 'system';
      return permission === 'prompt' ? 'dismissed' : 'blocked';
    case 'SecurityError':
      return 'blocked';
    case 'NotFoundError':
    case 'DevicesNotFoundError':
    case 'OverconstrainedError':
      return 'missing';
    case 'NotReadableError':
    case 'TrackStartError':
    case 'AbortError':
      return 'busy';
    default:
      return 'unknown';
  }
}
