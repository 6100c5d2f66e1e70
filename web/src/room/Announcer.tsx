import { useEffect, useRef, useState, type ReactElement } from 'react';
import { isHeard, isSeen, type Desk } from '../media/desk';
import { t } from '../messages';
import { newsOf } from './news';
import type { Person } from './person';
import type { Entry } from './roll';

interface Props {
  people: Entry<Person>[];
  desk: Desk;
  connected: boolean;
}

/** Tells those who do not see the stage what others read from it. */
export function Announcer({ people, desk, connected }: Props): ReactElement {
  const [said, setSaid] = useState('');
  const before = useRef({ people, speaking: isHeard(desk), seen: isSeen(desk), connected });

  useEffect(() => {
    const now = { people, speaking: isHeard(desk), seen: isSeen(desk), connected };
    const was = before.current;
    before.current = now;
    const sentences = [
      now.connected && !was.connected && t('say.back'),
      now.speaking !== was.speaking && t(now.speaking ? 'say.unmuted' : 'say.muted'),
      desk.video && now.seen !== was.seen && t(now.seen ? 'say.cameraOn' : 'say.cameraOff'),
      newsOf(
        was.people.map(({ person }) => person),
        now.people.map(({ person }) => person),
      ),
    ].filter(Boolean);
    if (sentences.length > 0) setSaid(sentences.join(' '));
  }, [people, desk, connected]);

  return (
    <p className="sr-only" role="status">
      {said}
    </p>
  );
}
