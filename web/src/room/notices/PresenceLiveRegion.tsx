import { type ReactElement, useEffect, useMemo, useRef, useState } from 'react';
import { isCameraActive, isMicActive } from '../../media/mediaState';
import { t } from '../../messages';
import { useStore } from '../../state/useStore';
import type { Announcement } from '../../visit/state';
import { useMeetingMedia, useMeetingPeople, useMembership } from '../meeting';
import type { Person } from '../people/person';
import { Announcer } from './announcer';
import { announcesPresence } from './announcesPresence';
import { describePresenceChanges } from './presenceChanges';

interface Props {
  /** The text of the banner about the end of the room. */
  endNotice: string | null;
  announcement: Announcement | null;
}

/** A live region that tells screen readers who joins and leaves and what changes on the stage. */
export function PresenceLiveRegion({ endNotice, announcement }: Props): ReactElement {
  const { breakoutNumber, breakoutName } = useMembership();
  const { mediaState, connection } = useMeetingMedia();
  const { people } = useMeetingPeople();
  const connected = connection.is === 'connected';
  const presenceOn = useStore(announcesPresence);
  const [text, setText] = useState('');
  const now = {
    people,
    micActive: isMicActive(mediaState),
    cameraActive: isCameraActive(mediaState),
    connected,
    breakoutNumber,
    breakoutName,
    video: mediaState.video,
    endNotice,
    announcement,
    presenceOn,
  };
  const latest = useRef(now);
  latest.current = now;
  const announced = useRef({ ...now, endNotice: null as string | null });
  const announcer = useMemo(() => {
    const collect = (): string => {
      const was = announced.current;
      announced.current = latest.current;
      return describeChanges(was, latest.current);
    };
    return new Announcer(collect, setText);
  }, []);
  useEffect(announcer.update);
  useEffect(() => () => announcer.stop(), [announcer]);

  return (
    <p className="sr-only" role="status">
      {text}
    </p>
  );
}

interface Announced {
  people: readonly { person: Person }[];
  micActive: boolean;
  cameraActive: boolean;
  connected: boolean;
  breakoutNumber: number;
  breakoutName: string | null;
  video: boolean;
  endNotice: string | null;
  announcement: Announcement | null;
  presenceOn: boolean;
}

function describeChanges(was: Announced, now: Announced): string {
  const moved = now.breakoutNumber !== was.breakoutNumber;
  return [
    now.endNotice !== was.endNotice && now.endNotice,
    now.announcement &&
      now.announcement !== was.announcement &&
      t('broadcast.announcement', { name: now.announcement.from, text: now.announcement.text }),
    moved && t('say.place', { place: now.breakoutName ?? t('rooms.main') }),
    !moved && now.connected && !was.connected && t('say.back'),
    now.micActive !== was.micActive && t(now.micActive ? 'say.unmuted' : 'say.muted'),
    now.video && now.cameraActive !== was.cameraActive && t(now.cameraActive ? 'say.cameraOn' : 'say.cameraOff'),
    // After a move everybody is new, which is not announced.
    !moved &&
      now.presenceOn &&
      describePresenceChanges(
        was.people.map(({ person }) => person),
        now.people.map(({ person }) => person),
      ),
  ]
    .filter(Boolean)
    .join(' ');
}
