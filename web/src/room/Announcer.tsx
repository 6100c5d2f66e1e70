import { useEffect, useRef, useState, type ReactElement } from 'react';
import { isHeard, isSeen, type Desk } from '../media/desk';
import { t } from '../messages';
import type { Word } from '../visit/state';
import { newsOf } from './news';
import type { Person } from './person';
import type { Entry } from './roll';

interface Props {
  people: Entry<Person>[];
  desk: Desk;
  connected: boolean;
  /** The number of the place and its name, while there are several. */
  here: number;
  place: string | null;
  /** What banners say. */
  notice: string | null;
  word: Word | null;
}

/** Tells those who do not see the stage what others read from it. */
export function Announcer({ people, desk, connected, here, place, notice, word }: Props): ReactElement {
  const [said, setSaid] = useState('');
  const before = useRef({ people, speaking: isHeard(desk), seen: isSeen(desk), connected, here, notice: null as string | null, word });

  useEffect(() => {
    const now = { people, speaking: isHeard(desk), seen: isSeen(desk), connected, here, notice, word };
    const was = before.current;
    before.current = now;
    const moved = now.here !== was.here;
    const sentences = [
      now.notice !== was.notice && now.notice,
      now.word && now.word !== was.word && t('word.says', { name: now.word.from, text: now.word.text }),
      moved && t('say.place', { place: place ?? t('rooms.main') }),
      !moved && now.connected && !was.connected && t('say.back'),
      now.speaking !== was.speaking && t(now.speaking ? 'say.unmuted' : 'say.muted'),
      desk.video && now.seen !== was.seen && t(now.seen ? 'say.cameraOn' : 'say.cameraOff'),
      // In another place everybody is new: that is no news.
      !moved &&
        newsOf(
          was.people.map(({ person }) => person),
          now.people.map(({ person }) => person),
        ),
    ].filter(Boolean);
    if (sentences.length > 0) setSaid(sentences.join(' '));
  }, [people, desk, connected, here, place, notice, word]);

  return (
    <p className="sr-only" role="status">
      {said}
    </p>
  );
}
