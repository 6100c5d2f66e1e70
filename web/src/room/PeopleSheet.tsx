import { ParticipantEvent } from 'livekit-client';
import type { ReactElement, ReactNode } from 'react';
import { initials } from '../lib/initials';
import { t } from '../messages';
import { Sheet } from '../ui/Sheet';
import { Badges } from './Badges';
import { DoorPart } from './door/DoorPart';
import type { Person } from './person';
import { PersonOptions } from './PersonOptions';
import type { Entry } from './roll';
import { PeopleTools } from './tools/PeopleTools';
import { RemovedPeople } from './tools/RemovedPeople';
import type { Tools } from './tools/tools';
import { useEvents } from './useEvents';

const speech = [ParticipantEvent.IsSpeakingChanged];

interface Props {
  people: Entry<Person>[];
  /** A room with pictures. */
  video: boolean;
  /** For those who run the room. */
  tools: Tools | null;
  /** Whose hand is up. */
  hands: ReactNode;
  onClose: () => void;
}

/** Everybody, also those for whom the stage has no place. */
export function PeopleSheet({ people, video, hands, tools, onClose }: Props): ReactElement {
  return (
    <Sheet title={t('people.title')} onClose={onClose}>
      {tools && <DoorPart door={tools.door} />}
      {hands}
      {tools && <PeopleTools tools={tools} />}
      <ul className="roll">
        {people.map((entry) => (
          <Row key={entry.person.identity} entry={entry} tools={tools} video={video} />
        ))}
      </ul>
      {tools && <RemovedPeople tools={tools} present={people.length} />}
    </Sheet>
  );
}

function Row({ entry: { person, goneAt }, tools, video }: { entry: Entry<Person>; tools: Tools | null; video: boolean }): ReactElement {
  useEvents(person.participant, speech);
  const away = goneAt !== null;
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
      {!person.you && <PersonOptions tools={tools} person={person} away={away} video={video} />}
    </li>
  );
}
