import { DisconnectReason } from 'livekit-client';
import type { DisconnectCause } from '../visit/state';

/** What an ended connection means for the visit; the page comes back by itself from what is merely lost. */
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
