import { ParticipantEvent } from 'livekit-client';
import type { ReactElement, ReactNode } from 'react';
import { initials } from '../../ui/initials';
import { t } from '../../messages';
import { Sheet } from '../../ui/Sheet';
import { Badges } from './Badges';
import { WaitingPart } from '../waitingRoom/WaitingPart';
import type { Person } from './person';
import { PersonOptions } from './PersonOptions';
import type { RosterEntry } from './roster';
import { PeopleModeration } from '../moderation/PeopleModeration';
import { RemovedPeople } from '../moderation/RemovedPeople';
import type { ModerationTools } from '../moderation/moderation';
import { useLiveKitEvents } from '../connection/useLiveKitEvents';

const speakingEvents = [ParticipantEvent.IsSpeakingChanged];

interface Props {
  people: RosterEntry<Person>[];
  /** The room is a video room. */
  video: boolean;
  /** For hosts and co-hosts. */
  moderation: ModerationTools | null;
  /** The raised hands. */
  hands: ReactNode;
  onClose: () => void;
}

/** The list of all people, also of those who do not fit on the stage. */
export function PeopleSheet({ people, video, hands, moderation, onClose }: Props): ReactElement {
  return (
    <Sheet title={t('people.title')} onClose={onClose}>
      {moderation && <WaitingPart waitingRoom={moderation.waitingRoom} />}
      {hands}
      {moderation && <PeopleModeration moderation={moderation} />}
      <ul className="roll">
        {people.map((entry) => (
          <Row key={entry.person.identity} entry={entry} moderation={moderation} video={video} />
        ))}
      </ul>
      {moderation && <RemovedPeople moderation={moderation} present={people.length} />}
    </Sheet>
  );
}

function Row({ entry: { person, disconnectedAt }, moderation, video }: { entry: RosterEntry<Person>; moderation: ModerationTools | null; video: boolean }): ReactElement {
  useLiveKitEvents(person.participant, speakingEvents);
  const away = disconnectedAt !== null;
  return (
    <li className="roll-row" data-away={away || undefined}>
      <span className="roll-face" aria-hidden="true">
        {initials(person.name)}
      </span>
      <span className="roll-name">
        <bdi>{person.name}</bdi>
      </span>
      <span className="roll-badges">
        {person.participant.isSpeaking && !away && <span className="badge speaking">{t('room.speaking')}</span>}
        <Badges person={person} away={away} />
      </span>
      {!person.you && <PersonOptions moderation={moderation} person={person} away={away} video={video} />}
    </li>
  );
}
