import { RoomContext } from '@livekit/components-react';
import type { Room } from 'livekit-client';
import { useEffect, useRef, useState, type ReactElement } from 'react';
import type { Seat } from '../api/client';
import { useMedia } from '../lib/useMedia';
import { useStore } from '../lib/useStore';
import { isHeard } from '../media/desk';
import type { Studio } from '../media/studio';
import { count } from '../messages';
import '../styles/room.css';
import type { Link } from '../visit/state';
import { Alone } from './Alone';
import { Announcer } from './Announcer';
import { AudioStage } from './AudioStage';
import { Banners } from './Banners';
import { Controls } from './Controls';
import { MoreSheet } from './MoreSheet';
import { PeopleSheet } from './PeopleSheet';
import { Sound } from './Sound';
import { usePeople } from './usePeople';
import { VideoStage } from './VideoStage';

interface Props {
  room: Room;
  seat: Seat;
  link: Link;
  studio: Studio;
  invitation: string;
  onLeave: () => void;
}

type OpenSheet = 'people' | 'more' | null;

/** The room: people first, controls below, everything else in sheets. */
export function RoomScreen({ room, seat, link, studio, invitation, onLeave }: Props): ReactElement {
  const desk = useStore(studio.desk);
  const narrow = useMedia('(max-width: 599px), (max-height: 479px)');
  const [sheet, setSheet] = useState<OpenSheet>(null);
  const heading = useRef<HTMLHeadingElement>(null);
  const people = usePeople(room, seat, !isHeard(desk), link.is === 'up');
  const [everMet, setEverMet] = useState(false);
  const alone = people.length === 1;

  useEffect(() => heading.current?.focus(), []);
  useEffect(() => {
    if (!alone) setEverMet(true);
  }, [alone]);
  useSpeaker(room, desk.chosen.speaker);

  const openPeople = (): void => setSheet('people');
  const close = (): void => setSheet(null);
  return (
    <RoomContext value={room}>
      <main className={seat.room_type === 'video' ? 'room video' : 'room audio'}>
        <header className="room-head">
          <h1 ref={heading} tabIndex={-1}>
            {seat.title}
          </h1>
          <p className="quiet small">{count('room.people', people.length)}</p>
        </header>
        <div className="room-middle" data-alone={alone || undefined}>
          {seat.room_type === 'video' ? (
            <VideoStage room={room} people={people} desk={desk} onPeople={openPeople} />
          ) : (
            <AudioStage room={room} people={people} onPeople={openPeople} />
          )}
          {alone && link.is === 'up' && <Alone link={invitation} everMet={everMet} />}
          <Banners room={room} link={link} desk={desk} studio={studio} />
        </div>
        <Controls
          desk={desk}
          studio={studio}
          narrow={narrow}
          people={people.length}
          onPeople={openPeople}
          onMore={() => setSheet('more')}
          onLeave={onLeave}
        />
        <Announcer people={people} desk={desk} connected={link.is === 'up'} />
      </main>
      <Sound room={room} />
      {sheet === 'people' && <PeopleSheet people={people} onClose={close} />}
      {sheet === 'more' && (
        <MoreSheet
          desk={desk}
          studio={studio}
          link={invitation}
          people={narrow ? people.length : null}
          onPeople={openPeople}
          onClose={close}
        />
      )}
    </RoomContext>
  );
}

/** Plays on the chosen speaker; a new connection starts with it already. */
function useSpeaker(room: Room, speaker: string): void {
  useEffect(() => {
    if (room.getActiveDevice('audiooutput') === (speaker || 'default')) return;
    // Unplugged meanwhile: the browser goes on with the usual one.
    room.switchActiveDevice('audiooutput', speaker || 'default').catch(() => undefined);
  }, [room, speaker]);
}
