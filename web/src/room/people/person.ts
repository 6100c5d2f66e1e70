import type { Participant } from 'livekit-client';
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

/** The role is in an attribute that only the server can write. */
export function roleOf(participant: Participant, fallback: Role): Role {
  const { role } = participant.attributes;
  return role === 'host' || role === 'cohost' || role === 'guest' ? role : fallback;
}

/** Visitors know their own name, and look for themselves as "You". */
export const nameOnStage = ({ you, name }: Person): string => (you ? t('room.you') : name);
