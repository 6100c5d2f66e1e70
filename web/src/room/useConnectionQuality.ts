import { ParticipantEvent, type ConnectionQuality, type Participant } from 'livekit-client';
import { useLiveKitEvents } from './useLiveKitEvents';

const changes = [ParticipantEvent.ConnectionQualityChanged];

/** How well somebody is connected, as the server says. */
export function useConnectionQuality(participant: Participant): ConnectionQuality {
  useLiveKitEvents(participant, changes);
  return participant.connectionQuality;
}
