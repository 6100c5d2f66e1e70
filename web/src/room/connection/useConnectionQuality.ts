import { type ConnectionQuality, type Participant, ParticipantEvent } from 'livekit-client';
import { useLiveKitEvents } from './useLiveKitEvents';

const changes = [ParticipantEvent.ConnectionQualityChanged];

/** Returns a participant's connection quality as the server reports it. */
export function useConnectionQuality(participant: Participant): ConnectionQuality {
  useLiveKitEvents(participant, changes);
  return participant.connectionQuality;
}
