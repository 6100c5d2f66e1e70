import { ParticipantEvent } from 'livekit-client';
import { type ReactElement, useId, useState } from 'react';
import { t } from '../../messages';
import { Disc } from '../../ui/Disc';
import { useLiveKitEvents } from '../connection/useLiveKitEvents';
import { useParticipantConnection } from '../connection/useParticipantConnection';
import { useMeetingPeople, useMembership } from '../meeting';
import { PeopleModeration } from '../moderation/PeopleModeration';
import { RemovedPeople } from '../moderation/RemovedPeople';
import { RaisedHands } from '../reactions/RaisedHands';
import { WaitingPart } from '../waitingRoom/WaitingPart';
import { Badges } from './Badges';
import { matchesName } from './matchesName';
import { PersonOptions } from './PersonOptions';
import type { Person } from './person';
import type { RosterEntry } from './roster';

const speakingEvents = [ParticipantEvent.IsSpeakingChanged];

/** A shorter list is seen at a glance. */
const minSearchable = 8;

/** All people, also those who do not fit on the stage. Those who wait or want to speak come first. */
export function PeopleTab(): ReactElement {
  const { isModerator } = useMembership();
  const { people } = useMeetingPeople();
  const [search, setSearch] = useState('');
  const searchable = people.length >= minSearchable;
  const found = searchable ? people.filter(({ person }) => matchesName(person.name, search)) : people;
  const id = useId();
  return (
    <>
      <h2 className="sr-only">{t('control.people')}</h2>
      {isModerator && <WaitingPart />}
      <RaisedHands />
      {isModerator && <PeopleModeration />}
      {searchable && (
        <div>
          <label htmlFor={id} className="sr-only">
            {t('people.search')}
          </label>
          <input id={id} type="search" placeholder={t('people.search')} value={search} onChange={({ target }) => setSearch(target.value)} />
        </div>
      )}
      <ul className="roster">
        {found.map((entry) => (
          <Row key={entry.person.identity} entry={entry} />
        ))}
      </ul>
      <p role="status" className="quiet">
        {found.length === 0 && t('people.none')}
      </p>
      {isModerator && <RemovedPeople />}
    </>
  );
}

function Row({ entry: { person, disconnectedAt } }: { entry: RosterEntry<Person> }): ReactElement {
  useLiveKitEvents(person.participant, speakingEvents);
  const connectionState = useParticipantConnection(person.participant);
  const away = disconnectedAt !== null;
  return (
    <li className="roster-row" data-away={away || undefined}>
      <Disc className="roster-face" identity={person.identity} name={person.name} />
      <span className="roster-person">
        <span className="roster-name">
          <bdi>{person.name}</bdi>
        </span>
        <span className="roster-badges">
          {person.participant.isSpeaking && !away && <span className="badge speaking">{t('room.speaking')}</span>}
          <Badges person={person} away={away} connectionState={connectionState} />
        </span>
      </span>
      {!person.you && <PersonOptions person={person} away={away} />}
    </li>
  );
}
