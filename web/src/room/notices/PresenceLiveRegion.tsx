import { useEffect, useRef, useState, type ReactElement } from 'react';
import { isMicActive, isCameraActive, type MediaState } from '../../media/mediaState';
import { t } from '../../messages';
import type { Announcement } from '../../visit/state';
import { describePresenceChanges } from './presenceChanges';
import type { Person } from '../people/person';
import type { RosterEntry } from '../people/roster';

interface Props {
  people: RosterEntry<Person>[];
  mediaState: MediaState;
  connected: boolean;
  /** The number and the name of the breakout room, while there are any. */
  breakoutNumber: number;
  breakoutName: string | null;
  /** The text of the banner about the end of the room. */
  endNotice: string | null;
  announcement: Announcement | null;
}

/** A live region that tells screen readers who joins and leaves and what changes on the stage. */
export function PresenceLiveRegion({ people, mediaState, connected, breakoutNumber, breakoutName, endNotice, announcement }: Props): ReactElement {
  const [text, setText] = useState('');
  const before = useRef({ people, speaking: isMicActive(mediaState), seen: isCameraActive(mediaState), connected, here: breakoutNumber, notice: null as string | null, word: announcement });

  useEffect(() => {
    const now = { people, speaking: isMicActive(mediaState), seen: isCameraActive(mediaState), connected, here: breakoutNumber, notice: endNotice, word: announcement };
    const was = before.current;
    before.current = now;
    const moved = now.here !== was.here;
    const sentences = [
      now.notice !== was.notice && now.notice,
      now.word && now.word !== was.word && t('word.says', { name: now.word.from, text: now.word.text }),
      moved && t('say.place', { place: breakoutName ?? t('rooms.main') }),
      !moved && now.connected && !was.connected && t('say.back'),
      now.speaking !== was.speaking && t(now.speaking ? 'say.unmuted' : 'say.muted'),
      mediaState.video && now.seen !== was.seen && t(now.seen ? 'say.cameraOn' : 'say.cameraOff'),
      // After a move everybody is new, which is not announced.
      !moved &&
        describePresenceChanges(
          was.people.map(({ person }) => person),
          now.people.map(({ person }) => person),
        ),
    ].filter(Boolean);
    if (sentences.length > 0) setText(sentences.join(' '));
  }, [people, mediaState, connected, breakoutNumber, breakoutName, endNotice, announcement]);

  return (
    <p className="sr-only" role="status">
      {text}
    </p>
  );
}
