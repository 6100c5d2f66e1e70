import { ParticipantEvent, type ConnectionQuality, type Participant } from 'livekit-client';
import { useEvents } from './useEvents';

const changes = [ParticipantEvent.ConnectionQualityChanged];

/** How well somebody is connected, as the server says. */
export function useQuality(participant: Participant): ConnectionQuality {
  useEvents(participant, changes);
  return participant.connectionQuality;
}
