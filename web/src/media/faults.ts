export type CaptureKind = 'mic' | 'camera';
export type Fault = 'blocked' | 'dismissed' | 'system' | 'missing' | 'busy' | 'insecure' | 'app' | 'unknown';

/**
 * Classifies an error of getUserMedia by what the visitor can do about it. Browsers use
 * the same error name when the visitor denies, has denied earlier, or when the operating
 * system denies. Only the permission state and the message distinguish these cases.
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
