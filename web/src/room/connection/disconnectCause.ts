import { DisconnectReason } from 'livekit-client';
import type { DisconnectCause } from '../../visit/state';

/** Maps LiveKit's reason to what it means for the visit. The page rejoins by itself after `lost`. */
export function disconnectCauseOf(reason: DisconnectReason | undefined): DisconnectCause {
  switch (reason) {
    case DisconnectReason.DUPLICATE_IDENTITY:
      return 'elsewhere';
    case DisconnectReason.USER_REJECTED:
      return 'limited';
    case DisconnectReason.PARTICIPANT_REMOVED:
      return 'removed';
    case DisconnectReason.ROOM_DELETED:
    case DisconnectReason.ROOM_CLOSED:
      return 'deleted';
    default:
      return 'lost';
  }
}
