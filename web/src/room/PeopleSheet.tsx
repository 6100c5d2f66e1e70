import { useIsSpeaking } from '@livekit/components-react';
import type { ReactElement, ReactNode } from 'react';
import { initials } from '../lib/initials';
import { t } from '../messages';
import { Sheet } from '../ui/Sheet';
import { Badges } from './Badges';
import type { Person } from './person';
import type { Entry } from './roll';

interface Props {
  people: Entry<Person>[];
  /** Whose hand is up. */
  hands: ReactNode;
  onClose: () => void;
}

/** Everybody, also those for whom the stage has no place. */
export function PeopleSheet({ people, hands, onClose }: Props): ReactElement {
  return (
    <Sheet title={t('people.title')} onClose={onClose}>
      {hands}
      <ul className="roll">
        {people.map((entry) => (
          <Row key={entry.person.identity} entry={entry} />
        ))}
      </ul>
    </Sheet>
  );
}

function Row({ entry: { person, goneAt } }: { entry: Entry<Person> }): ReactElement {
  const speaking = useIsSpeaking(person.participant);
  const away = goneAt !== null;
  return (
    <li className="roll-row" data-away={away || undefined}>
      <span className="roll-face" aria-hidden="true">
        {initials(person.name)}
      </span>
      <span className="roll-name">{person.name}</span>
      <span className="roll-badges">
        {speaking && !away && <span className="badge speaking">{t('room.speaking')}</span>}
        <Badges person={person} away={away} />
      </span>
    </li>
  );
}
