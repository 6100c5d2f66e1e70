import { ParticipantEvent } from 'livekit-client';
import type { ReactElement } from 'react';
import { t } from '../../messages';
import { Disc } from '../../ui/Disc';
import { Sheet } from '../../ui/Sheet';
import { useLiveKitEvents } from '../connection/useLiveKitEvents';
import { useMeeting } from '../meeting';
import { PeopleModeration } from '../moderation/PeopleModeration';
import { RemovedPeople } from '../moderation/RemovedPeople';
import { RaisedHands } from '../reactions/RaisedHands';
import { WaitingPart } from '../waitingRoom/WaitingPart';
import { Badges } from './Badges';
import { PersonOptions } from './PersonOptions';
import type { Person } from './person';
import type { RosterEntry } from './roster';

const speakingEvents = [ParticipantEvent.IsSpeakingChanged];

/** The list of all people, also of those who do not fit on the stage. */
export function PeopleSheet({ onClose }: { onClose: () => void }): ReactElement {
  const { people, isModerator } = useMeeting();
  return (
    <Sheet title={t('people.title')} onClose={onClose}>
      {isModerator && <WaitingPart />}
      <RaisedHands />
      {isModerator && <PeopleModeration />}
      <ul className="roster">
        {people.map((entry) => (
          <Row key={entry.person.identity} entry={entry} />
        ))}
      </ul>
      {isModerator && <RemovedPeople />}
    </Sheet>
  );
}

function Row({ entry: { person, disconnectedAt } }: { entry: RosterEntry<Person> }): ReactElement {
  useLiveKitEvents(person.participant, speakingEvents);
  const away = disconnectedAt !== null;
  return (
    <li className="roster-row" data-away={away || undefined}>
      <Disc className="roster-face" identity={person.identity} name={person.name} />
      <span className="roster-name">
        <bdi>{person.name}</bdi>
      </span>
      <span className="roster-badges">
        {person.participant.isSpeaking && !away && <span className="badge speaking">{t('room.speaking')}</span>}
        <Badges person={person} away={away} />
      </span>
      {!person.you && <PersonOptions person={person} away={away} />}
    </li>
  );
}
