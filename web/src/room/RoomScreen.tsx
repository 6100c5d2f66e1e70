import type { Room } from 'livekit-client';
import { useEffect, useMemo, useRef, useState, type ReactElement } from 'react';
import type { Seat } from '../api/client';
import type { ServerClock } from '../time/serverClock';
import { useMediaQuery } from './useMediaQuery';
import { useStore } from '../state/useStore';
import { isMicActive } from '../media/mediaState';
import type { LocalMedia } from '../media/localMedia';
import { count, t } from '../messages';
import '../styles/room.css';
import '../styles/stage.css';
import '../styles/chat.css';
import '../styles/sheets.css';
import type { RoomActions } from '../visit/roomActions';
import type { Connection, Announcement } from '../visit/state';
import { EmptyRoom, BreakoutNotice } from './notices/EmptyRoom';
import { usePublishPermissions, useReleaseForbiddenDevices } from './connection/publishPermissions';
import { PresenceLiveRegion } from './notices/PresenceLiveRegion';
import { AudioStage } from './stage/AudioStage';
import { Banners } from './notices/Banners';
import { ChatLiveRegion } from './chat/ChatLiveRegion';
import { ChatPanel } from './chat/ChatPanel';
import type { Inbox } from './chat/inbox';
import { useChat } from './chat/useChat';
import { Controls } from './controls/Controls';
import { WaitingNotice } from './waitingRoom/WaitingNotice';
import { useWaitingRoom } from './waitingRoom/useWaitingRoom';
import { useGuestLink } from './invite/useGuestLink';
import { useRoomMetadata } from './connection/roomMetadata';
import { shortcutsFor } from './shortcuts/shortcuts';
import { useSpeakingWhileMuted } from './shortcuts/mutedSpeech';
import { useShortcuts, usePushToTalk } from './shortcuts/useShortcuts';
import { useEndWarning } from './notices/endWarning';
import { RoomHeader } from './RoomHeader';
import type { OpenSheet } from './openSheet';
import { RoomSheets } from './RoomSheets';
import { Pip } from './pip/Pip';
import { HandsAndReactionsContext } from './reactions/context';
import { HandNotice } from './reactions/HandNotice';
import { raisedHands } from './reactions/hands';
import type { Reactions } from './reactions/reactions';
import { HandsAndReactionsLiveRegion } from './reactions/HandsAndReactionsLiveRegion';
import { HostNotice } from './moderation/HostNotice';
import { useRole } from './moderation/useRole';
import { useWakeLock } from './stage/useWakeLock';
import { usePeople } from './people/usePeople';
import { VideoStage } from './stage/VideoStage';

interface Props {
  room: Room;
  inbox: Inbox;
  reactions: Reactions;
  seat: Seat;
  connection: Connection;
  announcement: Announcement | null;
  clock: ServerClock;
  actions: RoomActions;
  localMedia: LocalMedia;
  guestAddress: string;
  onAnnouncementDismissed: () => void;
  onLeave: () => void;
}

/** The room: the stage, the controls below, everything else in sheets. */
export function RoomScreen({ room, inbox, reactions, seat, connection, announcement, clock, actions, localMedia, guestAddress, onAnnouncementDismissed, onLeave }: Props): ReactElement {
  const mediaState = useStore(localMedia.state);
  const narrow = useMediaQuery('(max-width: 599px), (max-height: 479px)');
  const chatInSheet = useMediaQuery('(max-width: 999px), (max-height: 479px)');
  const [sheet, setSheet] = useState<OpenSheet>(null);
  const heading = useRef<HTMLHeadingElement>(null);
  const metadata = useRoomMetadata(room);
  const allowed = usePublishPermissions(room);
  const breakoutNumber = seat.breakout?.number ?? 0;
  const role = useRole(room, seat.role);
  const people = usePeople(room, seat, !allowed.mic || !isMicActive(mediaState), connection.is === 'connected');
  const [wasAccompanied, setWasAccompanied] = useState(false);
  const alone = people.length === 1;
  const warning = useEndWarning(metadata.endsAt, clock);
  const [dismissedLevel, setDismissedLevel] = useState(0);
  const endNotice = warning && dismissedLevel !== warning.level ? count('limit.ends', warning.minutes) : null;
  const breakoutName = breakoutNumber > 0 || metadata.breakouts.length > 0 ? (seat.breakout?.name ?? t('rooms.main')) : null;
  const chat = useChat(room, inbox, seat, breakoutName ?? t('rooms.main'), clock);
  const [chatOpen, setChatOpen] = useState(false);
  const unread = seat.features.chat ? chat.log.unread : null;
  const isModerator = role !== 'guest';
  const waitingRoom = useWaitingRoom(actions, isModerator, metadata.waitingCount);
  const guestLink = useGuestLink(actions, seat, isModerator, guestAddress);
  const present = useMemo(() => people.map(({ person }) => person), [people]);
  const hands = useMemo(() => raisedHands(metadata.hands, present), [metadata, present]);
  const handRaised = hands.some(({ you }) => you);
  const handsAndReactions = useMemo(() => ({ hands: hands.map(({ identity }) => identity), reactions }), [hands, reactions]);

  useEffect(() => heading.current?.focus(), []);
  useEffect(() => {
    if (!alone) setWasAccompanied(true);
  }, [alone]);
  useWakeLock(seat.room_type === 'video');
  useSpeaker(room, mediaState.selectedDevices.speaker);
  useReleaseForbiddenDevices(localMedia, mediaState, allowed);
  const shortcuts = shortcutsFor({
    mediaState,
    localMedia,
    allowed,
    onOpen: setSheet,
    handRaised,
    onHand: () => void (handRaised ? actions.lowerHand() : actions.raiseHand()),
    onChat: unread === null ? null : () => setChatOpen(!chatOpen),
  });
  useShortcuts(shortcuts);
  usePushToTalk(localMedia, allowed.mic);
  const speakingWhileMuted = useSpeakingWhileMuted(mediaState, allowed.mic);

  const openPeople = (): void => setSheet('people');
  const openRooms = (): void => setSheet('rooms');
  return (
    <HandsAndReactionsContext value={handsAndReactions}>
      <main className={seat.room_type === 'video' ? 'room video' : 'room audio'}>
        <RoomHeader
          heading={heading}
          title={seat.title}
          people={people.length}
          breakoutName={breakoutName}
          onRooms={openRooms}
          endsAt={warning && metadata.endsAt}
          clock={clock}
        />
        <div className="room-middle" data-alone={alone || undefined}>
          {seat.room_type === 'video' ? (
            <VideoStage room={room} people={people} mediaState={mediaState} onPeople={openPeople} />
          ) : (
            <AudioStage room={room} people={people} onPeople={openPeople} />
          )}
          {alone &&
            connection.is === 'connected' &&
            (breakoutName === null ? (
              <EmptyRoom guestLink={guestLink} wasAccompanied={wasAccompanied} />
            ) : (
              <BreakoutNotice inBreakout={breakoutNumber > 0} onRooms={openRooms} />
            ))}
          <Banners
            room={room}
            connection={connection}
            mediaState={mediaState}
            localMedia={localMedia}
            endNotice={endNotice}
            onEndNoticeDismissed={() => setDismissedLevel(warning?.level ?? 0)}
            announcement={announcement}
            speakingWhileMuted={speakingWhileMuted}
            onAnnouncementDismissed={onAnnouncementDismissed}
          >
            <WaitingNotice waitingRoom={waitingRoom} />
            <HostNotice room={room} role={role} allowed={allowed} micActive={isMicActive(mediaState)} localMedia={localMedia} />
          </Banners>
          <HandNotice actions={actions} hands={hands} isModerator={isModerator} onPeople={openPeople} />
        </div>
        <Controls
          mediaState={mediaState}
          localMedia={localMedia}
          allowed={allowed}
          narrow={narrow}
          people={people.length}
          waiting={waitingRoom.waiting.length}
          unread={unread}
          onChat={() => setChatOpen((open) => !open)}
          onReact={() => setSheet('react')}
          onPeople={openPeople}
          onMore={() => setSheet('more')}
          onLeave={onLeave}
        />
        {chatOpen && unread !== null && (
          <ChatPanel chat={chat} connected={connection.is === 'connected'} narrow={chatInSheet} onClose={() => setChatOpen(false)} />
        )}
        <ChatLiveRegion log={chat.log} />
        <HandsAndReactionsLiveRegion people={present} hands={hands} isModerator={isModerator} reactions={reactions} />
        <PresenceLiveRegion people={people} mediaState={mediaState} connected={connection.is === 'connected'} breakoutNumber={breakoutNumber} breakoutName={breakoutName} endNotice={endNotice} announcement={announcement} />
      </main>
      <Pip room={room} people={people} mediaState={mediaState} localMedia={localMedia} micAllowed={allowed.mic} onLeave={onLeave} />
      <RoomSheets
        room={room}
        open={sheet}
        onOpen={setSheet}
        mediaState={mediaState}
        localMedia={localMedia}
        seat={seat}
        role={role}
        metadata={metadata}
        people={people}
        hands={hands}
        unread={unread}
        onChat={() => {
          setSheet(null);
          setChatOpen(true);
        }}
        narrow={narrow}
        shortcuts={shortcuts}
        micAllowed={allowed.mic}
        actions={actions}
        guestLink={guestLink}
        waitingRoom={waitingRoom}
      />
    </HandsAndReactionsContext>
  );
}

/** Plays sound on the selected speaker. A new connection is created with it. */
function useSpeaker(room: Room, speaker: string): void {
  useEffect(() => {
    if (room.getActiveDevice('audiooutput') === (speaker || 'default')) return;
    // The speaker is unplugged: the browser continues with the default one.
    room.switchActiveDevice('audiooutput', speaker || 'default').catch(() => undefined);
  }, [room, speaker]);
}
