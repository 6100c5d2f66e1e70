import { type ReactElement, useRef } from 'react';
import { Disc } from '../../ui/Disc';
import { useParticipantConnection } from '../connection/useParticipantConnection';
import { useMembership } from '../meeting';
import { Badges } from '../people/Badges';
import { nameOnStage, type Person } from '../people/person';
import type { RosterEntry } from '../people/roster';
import { ReactionBadge } from '../reactions/ReactionBadge';
import { useAudioLevel } from './useAudioLevel';

interface Props {
  entry: RosterEntry<Person>;
}

/** A person in an audio room: large initials with a ring that shows the audio level. */
export function AudioTile({ entry: { person, disconnectedAt } }: Props): ReactElement {
  const { room } = useMembership();
  const item = useRef<HTMLLIElement>(null);
  useAudioLevel(room, person.participant, item);
  const away = disconnectedAt !== null;
  const connectionState = useParticipantConnection(person.participant);
  const isLost = connectionState === 'lost';
  return (
    <li ref={item} className="face" data-away={away || isLost || undefined}>
      <Disc className="face-circle" identity={person.identity} name={person.name} />
      <ReactionBadge identity={person.identity} />
      <p className="face-name">
        <bdi>{nameOnStage(person)}</bdi>
      </p>
      <p className="face-badges">
        <Badges person={person} away={away} connectionState={connectionState} withYou={false} />
      </p>
    </li>
  );
}
