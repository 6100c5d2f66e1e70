import { useRef, type ReactElement } from 'react';
import type { Room } from 'livekit-client';
import { initials } from '../lib/initials';
import { Badges } from './Badges';
import type { Person } from './person';
import type { Entry } from './roll';
import { ReactionMark } from './together/ReactionMark';
import { useVoice } from './useVoice';

interface Props {
  room: Room;
  entry: Entry<Person>;
}

/** Somebody in an audio room: large initials with a ring that follows the voice. */
export function Face({ room, entry: { person, goneAt } }: Props): ReactElement {
  const item = useRef<HTMLLIElement>(null);
  useVoice(room, person.participant, item);
  const away = goneAt !== null;
  return (
    <li ref={item} className="face" data-away={away || undefined}>
      <div className="face-circle" aria-hidden="true">
        <span className="initials">{initials(person.name)}</span>
      </div>
      <ReactionMark identity={person.identity} />
      <p className="face-name">
        <bdi>{person.name}</bdi>
      </p>
      <p className="face-badges">
        <Badges person={person} away={away} />
      </p>
    </li>
  );
}
