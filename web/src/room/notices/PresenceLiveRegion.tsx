import { type ReactElement, useEffect, useRef, useState } from 'react';
import { isCameraActive, isMicActive } from '../../media/mediaState';
import { t } from '../../messages';
import type { Announcement } from '../../visit/state';
import { useMeeting } from '../meeting';
import { describePresenceChanges } from './presenceChanges';

interface Props {
  /** The text of the banner about the end of the room. */
  endNotice: string | null;
  announcement: Announcement | null;
}

/** A live region that tells screen readers who joins and leaves and what changes on the stage. */
export function PresenceLiveRegion({ endNotice, announcement }: Props): ReactElement {
  const { people, mediaState, connection, breakoutNumber, breakoutName } = useMeeting();
  const connected = connection.is === 'connected';
  const [text, setText] = useState('');
  const before = useRef({
    people,
    micActive: isMicActive(mediaState),
    cameraActive: isCameraActive(mediaState),
    connected,
    breakoutNumber,
    endNotice: null as string | null,
    announcement,
  });

  useEffect(() => {
    const now = {
      people,
      micActive: isMicActive(mediaState),
      cameraActive: isCameraActive(mediaState),
      connected,
      breakoutNumber,
      endNotice,
      announcement,
    };
    const was = before.current;
    before.current = now;
    const moved = now.breakoutNumber !== was.breakoutNumber;
    const sentences = [
      now.endNotice !== was.endNotice && now.endNotice,
      now.announcement &&
        now.announcement !== was.announcement &&
        t('broadcast.announcement', { name: now.announcement.from, text: now.announcement.text }),
      moved && t('say.place', { place: breakoutName ?? t('rooms.main') }),
      !moved && now.connected && !was.connected && t('say.back'),
      now.micActive !== was.micActive && t(now.micActive ? 'say.unmuted' : 'say.muted'),
      mediaState.video && now.cameraActive !== was.cameraActive && t(now.cameraActive ? 'say.cameraOn' : 'say.cameraOff'),
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
