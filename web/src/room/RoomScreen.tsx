import type { Room } from 'livekit-client';
import { type ReactElement, useEffect, useMemo, useRef, useState } from 'react';
import type { Seat } from '../api/client';
import type { LocalMedia } from '../media/localMedia';
import { isMicActive } from '../media/mediaState';
import { count, t } from '../messages';
import { useStore } from '../state/useStore';
import type { ServerClock } from '../time/serverClock';
import { useMediaQuery } from './useMediaQuery';
import '../styles/room.css';
import '../styles/stage.css';
import '../styles/chat.css';
import '../styles/sheets.css';
import type { RoomActions } from '../visit/roomActions';
import type { Announcement, Connection } from '../visit/state';
import { ChatLiveRegion } from './chat/ChatLiveRegion';
import { ChatPanel } from './chat/ChatPanel';
import type { Inbox } from './chat/inbox';
import { useChat } from './chat/useChat';
import { usePublishPermissions, useReleaseForbiddenDevices } from './connection/publishPermissions';
import { useRoomMetadata } from './connection/roomMetadata';
import { useConnectionLost } from './connection/useConnectionLost';
import { Controls } from './controls/Controls';
import { useGuestLink } from './invite/useGuestLink';
import { type Meeting, MeetingContext } from './meeting';
import { HostNotice } from './moderation/HostNotice';
import { useRole } from './moderation/useRole';
import { Banners } from './notices/Banners';
import { ConnectionLostBar } from './notices/ConnectionLostBar';
import { BreakoutNotice, EmptyRoom } from './notices/EmptyRoom';
import { useEndWarning } from './notices/endWarning';
import { PresenceLiveRegion } from './notices/PresenceLiveRegion';
import type { OpenSheet } from './openSheet';
import { usePeople } from './people/usePeople';
import { Pip } from './pip/Pip';
import { RoomHeader } from './RoomHeader';
import { RoomSheets } from './RoomSheets';
import { HandNotice } from './reactions/HandNotice';
import { HandsAndReactionsLiveRegion } from './reactions/HandsAndReactionsLiveRegion';
import { raisedHands } from './reactions/hands';
import type { Reactions } from './reactions/reactions';
import { useSpeakingWhileMuted } from './shortcuts/mutedSpeech';
import { shortcutsFor } from './shortcuts/shortcuts';
import { usePushToTalk, useShortcuts } from './shortcuts/useShortcuts';
import { AudioStage } from './stage/AudioStage';
import { useWakeLock } from './stage/useWakeLock';
import { VideoStage } from './stage/VideoStage';
import { useWaitingRoom } from './waitingRoom/useWaitingRoom';
import { WaitingNotice } from './waitingRoom/WaitingNotice';

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
export function RoomScreen({
  room,
  inbox,
  reactions,
  seat,
  connection,
  announcement,
  clock,
  actions,
  localMedia,
  guestAddress,
  onAnnouncementDismissed,
  onLeave,
}: Props): ReactElement {
  const mediaState = useStore(localMedia.state);
  const narrow = useMediaQuery('(max-width: 599px), (max-height: 479px)');
  const chatInSheet = useMediaQuery('(max-width: 999px), (max-height: 479px)');
  const [sheet, setSheet] = useState<OpenSheet>(null);
  const heading = useRef<HTMLHeadingElement>(null);
  const metadata = useRoomMetadata(room);
  const allowed = usePublishPermissions(room);
  const breakoutNumber = seat.breakout?.number ?? 0;
  const role = useRole(room, seat.role);
  const connected = connection.is === 'connected';
  const people = usePeople(room, seat, !allowed.mic || !isMicActive(mediaState), connected);
  const [wasAccompanied, setWasAccompanied] = useState(false);
  const alone = people.length === 1;
  const warning = useEndWarning(metadata.endsAt, clock);
  const [dismissedLevel, setDismissedLevel] = useState(0);
  const endNotice = warning && dismissedLevel !== warning.level ? count('limit.ends', warning.minutes) : null;
  const breakoutName = breakoutNumber > 0 || metadata.breakouts.length > 0 ? (seat.breakout?.name ?? t('rooms.main')) : null;
  const chat = useChat(room, inbox, seat, breakoutName ?? t('rooms.main'), clock);
  const [chatOpen, setChatOpen] = useState(false);
  const unread = seat.features.chat ? chat.log.unread : null;
  const connectionLost = useConnectionLost(room, connection);
  const isModerator = role !== 'guest';
  const waitingRoom = useWaitingRoom(actions, isModerator, metadata.waitingCount);
  const guestLink = useGuestLink(actions, seat, isModerator, guestAddress);
  const hands = useMemo(
    () =>
      raisedHands(
        metadata.hands,
        people.map(({ person }) => person),
      ),
    [metadata, people],
  );
  const handRaised = hands.some(({ you }) => you);

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

  const meeting: Meeting = {
    room,
    connection,
    clock,
    seat,
    role,
    isModerator,
    allowed,
    localMedia,
    mediaState,
    metadata,
    breakoutNumber,
    breakoutName,
    people,
    hands,
    reactions,
    waitingRoom,
    guestLink,
    unread,
    narrow,
    actions,
    openSheet: setSheet,
    openChat: () => {
      setSheet(null);
      setChatOpen(true);
    },
    toggleChat: () => setChatOpen((open) => !open),
    leave: onLeave,
  };
  return (
    <MeetingContext value={meeting}>
      <main className={seat.room_type === 'video' ? 'room video' : 'room audio'} data-lost={connectionLost || undefined}>
        <RoomHeader heading={heading} endsAt={warning && metadata.endsAt} />
        {/* Before the stage, so that the keyboard reaches the controls before the many buttons of the tiles. */}
        <Controls />
        <div className="room-middle" data-alone={alone || undefined}>
          {seat.room_type === 'video' ? <VideoStage /> : <AudioStage />}
          <ConnectionLostBar lost={connectionLost} />
          {alone && connected && (breakoutName === null ? <EmptyRoom wasAccompanied={wasAccompanied} /> : <BreakoutNotice />)}
          <Banners
            endNotice={endNotice}
            onEndNoticeDismissed={() => setDismissedLevel(warning?.level ?? 0)}
            announcement={announcement}
            onAnnouncementDismissed={onAnnouncementDismissed}
            speakingWhileMuted={speakingWhileMuted}
          >
            <WaitingNotice />
            <HostNotice />
          </Banners>
          <HandNotice />
        </div>
        {chatOpen && unread !== null && (
          <ChatPanel chat={chat} connected={connected} narrow={chatInSheet} onClose={() => setChatOpen(false)} />
        )}
        <ChatLiveRegion log={chat.log} />
        <HandsAndReactionsLiveRegion />
        <PresenceLiveRegion endNotice={endNotice} announcement={announcement} />
      </main>
      <Pip />
      <RoomSheets open={sheet} shortcuts={shortcuts} />
    </MeetingContext>
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
