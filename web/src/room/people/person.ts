import type { Participant, Room } from 'livekit-client';
import type { Role } from '../../api/client';
import { t } from '../../messages';

export interface Person {
  identity: string;
  name: string;
  role: Role;
  you: boolean;
  muted: boolean;
  participant: Participant;
}

/** Returns whether a person is connected to the room, which the list of people shows a moment later. */
export const isPresent = (room: Room, { you, identity, participant }: Person): boolean =>
  you || room.remoteParticipants.get(identity) === participant;

/** The role is in an attribute that only the server can write. */
export function roleOf(participant: Participant, fallback: Role): Role {
  const { role } = participant.attributes;
  return role === 'host' || role === 'cohost' || role === 'guest' ? role : fallback;
}

/** Visitors know their own name, and look for themselves as "You". */
export const nameOnStage = ({ you, name }: Person): string => (you ? t('room.you') : name);
