import type { Room } from 'livekit-client';
import { useEffect, useMemo, useRef, useState, type ReactElement } from 'react';
import type { Seat } from '../api/client';
import type { ServerClock } from '../lib/clock';
import { useMedia } from '../lib/useMedia';
import { useStore } from '../lib/useStore';
import { isHeard } from '../media/desk';
import type { Studio } from '../media/studio';
import { count, t } from '../messages';
import '../styles/room.css';
import '../styles/stage.css';
import '../styles/chat.css';
import '../styles/sheets.css';
import type { Acts } from '../visit/acts';
import type { Link, Word } from '../visit/state';
import { Alone, Apart } from './Alone';
import { useAllowed, useLetGo } from './allowed';
import { Announcer } from './Announcer';
import { AudioStage } from './AudioStage';
import { Banners } from './Banners';
import { ChatNews } from './chat/ChatNews';
import { ChatPanel } from './chat/ChatPanel';
import type { Inbox } from './chat/inbox';
import { useChat } from './chat/useChat';
import { Controls } from './Controls';
import { DoorNotice } from './door/DoorNotice';
import { useDoor } from './door/useDoor';
import { useGuestLink } from './door/useGuestLink';
import { useInfo } from './info';
import { shortcutsFor } from './keys/table';
import { useUnheard } from './keys/unheard';
import { useKeys, usePushToTalk } from './keys/useKeys';
import { useWarning } from './limit';
import { RoomHead } from './RoomHead';
import { RoomSheets, type OpenSheet } from './RoomSheets';
import { Pip } from './stage/Pip';
import { TogetherContext } from './together/context';
import { HandNotice } from './together/HandNotice';
import { raised } from './together/hands';
import type { Reactions } from './together/reactions';
import { TogetherNews } from './together/TogetherNews';
import { HostNotice } from './tools/HostNotice';
import { useRole } from './tools/useRole';
import { useAwake } from './useAwake';
import { usePeople } from './usePeople';
import { VideoStage } from './VideoStage';

interface Props {
  room: Room;
  inbox: Inbox;
  reactions: Reactions;
  seat: Seat;
  link: Link;
  word: Word | null;
  clock: ServerClock;
  acts: Acts;
  studio: Studio;
  invitation: string;
  onHeard: () => void;
  onLeave: () => void;
}

/** The room: people first, controls below, everything else in sheets. */
export function RoomScreen({ room, inbox, reactions, seat, link, word, clock, acts, studio, invitation, onHeard, onLeave }: Props): ReactElement {
  const desk = useStore(studio.desk);
  const narrow = useMedia('(max-width: 599px), (max-height: 479px)');
  const cramped = useMedia('(max-width: 999px), (max-height: 479px)');
  const [sheet, setSheet] = useState<OpenSheet>(null);
  const heading = useRef<HTMLHeadingElement>(null);
  const info = useInfo(room);
  const allowed = useAllowed(room);
  const here = seat.breakout?.number ?? 0;
  const role = useRole(room, seat.role);
  const people = usePeople(room, seat, !allowed.mic || !isHeard(desk), link.is === 'up');
  const [everMet, setEverMet] = useState(false);
  const alone = people.length === 1;
  const warning = useWarning(info.endsAt, clock);
  const [dismissed, setDismissed] = useState(0);
  const notice = warning && dismissed !== warning.level ? count('limit.ends', warning.minutes) : null;
  const place = here > 0 || info.breakouts.length > 0 ? (seat.breakout?.name ?? t('rooms.main')) : null;
  const chat = useChat(room, inbox, seat, place ?? t('rooms.main'), clock);
  const [chatting, setChatting] = useState(false);
  const unread = seat.features.chat ? chat.log.unread : null;
  const runs = role !== 'guest';
  const door = useDoor(acts, runs, info.waiting);
  const guests = useGuestLink(acts, seat, runs, invitation);
  const present = useMemo(() => people.map(({ person }) => person), [people]);
  const hands = useMemo(() => raised(info.hands, present), [info, present]);
  const handUp = hands.some(({ you }) => you);
  const together = useMemo(() => ({ hands: hands.map(({ identity }) => identity), reactions }), [hands, reactions]);

  useEffect(() => heading.current?.focus(), []);
  useEffect(() => {
    if (!alone) setEverMet(true);
  }, [alone]);
  useAwake(seat.room_type === 'video');
  useSpeaker(room, desk.chosen.speaker);
  useLetGo(studio, desk, allowed);
  const shortcuts = shortcutsFor({
    desk,
    studio,
    allowed,
    onOpen: setSheet,
    handUp,
    onHand: () => void (handUp ? acts.lowerHand() : acts.raiseHand()),
    onChat: unread === null ? null : () => setChatting(!chatting),
  });
  useKeys(shortcuts);
  usePushToTalk(studio, allowed.mic);
  const unheard = useUnheard(desk, allowed.mic);

  const openPeople = (): void => setSheet('people');
  const openRooms = (): void => setSheet('rooms');
  return (
    <TogetherContext value={together}>
      <main className={seat.room_type === 'video' ? 'room video' : 'room audio'}>
        <RoomHead
          heading={heading}
          title={seat.title}
          people={people.length}
          place={place}
          onRooms={openRooms}
          endsAt={warning && info.endsAt}
          clock={clock}
        />
        <div className="room-middle" data-alone={alone || undefined}>
          {seat.room_type === 'video' ? (
            <VideoStage room={room} people={people} desk={desk} onPeople={openPeople} />
          ) : (
            <AudioStage room={room} people={people} onPeople={openPeople} />
          )}
          {alone &&
            link.is === 'up' &&
            (place === null ? (
              <Alone guests={guests} everMet={everMet} />
            ) : (
              <Apart inBreakout={here > 0} onRooms={openRooms} />
            ))}
          <Banners
            room={room}
            link={link}
            desk={desk}
            studio={studio}
            notice={notice}
            onNoticed={() => setDismissed(warning?.level ?? 0)}
            word={word}
            unheard={unheard}
            onHeard={onHeard}
          >
            <DoorNotice door={door} />
            <HostNotice room={room} role={role} allowed={allowed} heard={isHeard(desk)} studio={studio} />
          </Banners>
          <HandNotice acts={acts} hands={hands} runs={runs} onPeople={openPeople} />
        </div>
        <Controls
          desk={desk}
          studio={studio}
          allowed={allowed}
          narrow={narrow}
          people={people.length}
          waiting={door.waiting.length}
          unread={unread}
          onChat={() => setChatting((open) => !open)}
          onReact={() => setSheet('react')}
          onPeople={openPeople}
          onMore={() => setSheet('more')}
          onLeave={onLeave}
        />
        {chatting && unread !== null && (
          <ChatPanel chat={chat} connected={link.is === 'up'} narrow={cramped} onClose={() => setChatting(false)} />
        )}
        <ChatNews log={chat.log} />
        <TogetherNews people={present} hands={hands} runs={runs} reactions={reactions} />
        <Announcer people={people} desk={desk} connected={link.is === 'up'} here={here} place={place} notice={notice} word={word} />
      </main>
      <Pip room={room} people={people} desk={desk} studio={studio} talks={allowed.mic} onLeave={onLeave} />
      <RoomSheets
        room={room}
        open={sheet}
        onOpen={setSheet}
        desk={desk}
        studio={studio}
        seat={seat}
        role={role}
        info={info}
        people={people}
        hands={hands}
        unread={unread}
        onChat={() => {
          setSheet(null);
          setChatting(true);
        }}
        narrow={narrow}
        shortcuts={shortcuts}
        talks={allowed.mic}
        acts={acts}
        guests={guests}
        door={door}
      />
    </TogetherContext>
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
