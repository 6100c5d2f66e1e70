import type { Room } from 'livekit-client';
import { type ReactElement, useEffect, useMemo, useRef, useState } from 'react';
import type { Seat } from '../api/client';
import type { LocalMedia } from '../media/localMedia';
import { isMicActive } from '../media/mediaState';
import { count, t } from '../messages';
import type { Store } from '../state/store';
import { useStore } from '../state/useStore';
import type { ServerClock } from '../time/serverClock';
import { useMediaQuery } from './useMediaQuery';
import '../styles/room.css';
import '../styles/stage.css';
import '../styles/chat.css';
import '../styles/sheets.css';
import type { RoomActions } from '../visit/roomActions';
import type { Announcement, Connection } from '../visit/state';
import { useAlerts } from './alerts/useAlerts';
import { ChatLiveRegion } from './chat/ChatLiveRegion';
import type { Inbox } from './chat/inbox';
import { useChat } from './chat/useChat';
import type { PacketMonitor } from './connection/packetMonitor';
import { usePublishPermissions, useReleaseForbiddenDevices } from './connection/publishPermissions';
import { useRoomMetadata } from './connection/roomMetadata';
import type { ServerMessages } from './connection/serverMessages';
import { useConnectionLost } from './connection/useConnectionLost';
import { Controls } from './controls/Controls';
import { isLastHost } from './controls/isLastHost';
import { useGuestLink } from './invite/useGuestLink';
import { useLeaveGuard } from './leaveGuard';
import { useRole } from './moderation/useRole';
import { ConnectionLostBar } from './notices/ConnectionLostBar';
import { BreakoutNotice, EmptyRoom } from './notices/EmptyRoom';
import { useEndWarning } from './notices/endWarning';
import { PresenceLiveRegion } from './notices/PresenceLiveRegion';
import { Toasts } from './notices/Toasts';
import { nothingOpen, type OpenSheet, openView, type PanelTab, toggleTab } from './openSheet';
import { SidePanel } from './panel/SidePanel';
import { usePeople } from './people/usePeople';
import { usePeopleList } from './people/usePeopleList';
import { Pip } from './pip/Pip';
import { RoomContexts } from './RoomContexts';
import { RoomHeader } from './RoomHeader';
import { RoomSheets } from './RoomSheets';
import { HandsAndReactionsLiveRegion } from './reactions/HandsAndReactionsLiveRegion';
import { handsElsewhere, raisedHands } from './reactions/hands';
import type { Reactions } from './reactions/reactions';
import { useRaisedAt } from './reactions/useRaisedAt';
import { useSpeakingWhileMuted } from './shortcuts/mutedSpeech';
import { shortcutsFor } from './shortcuts/shortcuts';
import { usePushToTalk, useShortcuts } from './shortcuts/useShortcuts';
import { AudioStage } from './stage/AudioStage';
import { useSwipe } from './stage/useSwipe';
import { useWakeLock } from './stage/useWakeLock';
import { VideoStage } from './stage/VideoStage';
import { useThemeColor } from './useThemeColor';
import { useWaitingRoom } from './waitingRoom/useWaitingRoom';

interface Props {
  room: Room;
  packets: PacketMonitor;
  inbox: Inbox;
  serverMessages: ServerMessages;
  reactions: Reactions;
  seat: Seat;
  connection: Connection;
  announcement: Announcement | null;
  clock: ServerClock;
  actions: RoomActions;
  localMedia: LocalMedia;
  /** Receives how many people are shown; 0 when the room is left. */
  peopleCount: Store<number>;
  guestAddress: string;
  /** The organizer's message; empty when there is none. */
  welcomeMessage: string;
  onAnnouncementDismissed: () => void;
  onLeave: () => void;
}

/** The room: the stage, the controls below, the side panel, everything else in dialogs. */
export function RoomScreen({
  room,
  packets,
  inbox,
  serverMessages,
  reactions,
  seat,
  connection,
  announcement,
  clock,
  actions,
  localMedia,
  peopleCount,
  guestAddress,
  welcomeMessage,
  onAnnouncementDismissed,
  onLeave,
}: Props): ReactElement {
  const mediaState = useStore(localMedia.state);
  const narrow = useMediaQuery('(max-width: 599px), (max-height: 479px)');
  const panelCovers = useMediaQuery('(max-width: 999px), (max-height: 479px)');
  const [open, setOpen] = useState(nothingOpen);
  const openSheet = (sheet: OpenSheet): void => setOpen((views) => openView(views, sheet, panelCovers));
  const toggle = (tab: PanelTab): void => setOpen((views) => toggleTab(views, tab));
  const heading = useRef<HTMLHeadingElement>(null);
  const middle = useRef<HTMLDivElement>(null);
  const metadata = useRoomMetadata(room);
  const allowed = usePublishPermissions(room);
  const breakoutNumber = seat.breakout?.number ?? 0;
  const role = useRole(room, seat.role);
  const connected = connection.is === 'connected';
  const people = usePeople(room, seat, !allowed.mic || !isMicActive(mediaState), connected);
  const [wasAccompanied, setWasAccompanied] = useState(false);
  const alone = people.length === 1;
  const warning = useEndWarning(metadata.endsAt, clock);
  const leave = (): void => {
    if (isLastHost(role, people, metadata) && connected) openSheet('leave');
    else onLeave();
  };
  const [dismissedLevel, setDismissedLevel] = useState(0);
  const endNotice = warning && dismissedLevel !== warning.level ? count('limit.ends', warning.minutes) : null;
  const breakoutName = breakoutNumber > 0 || metadata.breakouts.length > 0 ? (seat.breakout?.name ?? t('rooms.main')) : null;
  const chat = useChat(room, packets, inbox, seat, breakoutName ?? t('rooms.main'), clock, people);
  const unread = seat.features.chat ? chat.log.unread : null;
  const connectionLost = useConnectionLost(packets, connection);
  const isModerator = role !== 'guest';
  const list = usePeopleList(actions, isModerator, [metadata.waitingCount, metadata.handsElsewhere]);
  const waitingRoom = useWaitingRoom(actions, metadata.waitingCount, list?.waiting ?? null);
  const guestLink = useGuestLink(actions, seat, isModerator, guestAddress);
  const hands = useMemo(
    () =>
      raisedHands(
        metadata.hands,
        people.map(({ person }) => person),
      ),
    [metadata, people],
  );
  const elsewhere = useMemo(
    () =>
      metadata.handsElsewhere > 0 && list
        ? handsElsewhere(list.people, breakoutNumber, [{ number: 0, name: t('rooms.main') }, ...metadata.breakouts])
        : [],
    [list, metadata, breakoutNumber],
  );
  const raisedHandsOfAll = useMemo(() => [...hands, ...elsewhere], [hands, elsewhere]);
  const raisedAt = useRaisedAt(raisedHandsOfAll, clock);
  const handRaised = hands.some(({ you }) => you);

  useEffect(() => peopleCount.set(people.length), [peopleCount, people.length]);
  // Only when the room is left, so that a page around the frame hears of no empty room between two numbers.
  useEffect(() => () => peopleCount.set(0), [peopleCount]);

  useEffect(() => heading.current?.focus(), []);
  useEffect(() => {
    if (!alone) setWasAccompanied(true);
  }, [alone]);
  useWakeLock(seat.room_type === 'video');
  useThemeColor(seat.room_type === 'video');
  useSwipe(middle, seat.room_type === 'video');
  useAlerts({ title: seat.title, unread: unread ?? 0, waiting: waitingRoom.waiting, hands: raisedHandsOfAll, isModerator, localMedia });
  useReleaseForbiddenDevices(localMedia, mediaState, allowed);
  useLeaveGuard({
    closeView: () => {
      if (open.dialog === null && open.panel === null) return false;
      setOpen((views) => (views.dialog === null ? nothingOpen : { ...views, dialog: null }));
      return true;
    },
    leave: onLeave,
    accompanied: !alone && connected,
  });
  const shortcuts = shortcutsFor({
    mediaState,
    localMedia,
    allowed,
    hasChat: unread !== null,
    onOpen: openSheet,
    onToggle: toggle,
    handRaised,
    onHand: () => void (handRaised ? actions.lowerHand() : actions.raiseHand()),
    onReact: (reaction) => void actions.react(reaction),
  });
  useShortcuts(shortcuts);
  usePushToTalk(localMedia, allowed.mic);
  const speakingWhileMuted = useSpeakingWhileMuted(mediaState, allowed.mic);

  const membership = { room, clock, seat, role, isModerator, breakoutNumber, breakoutName, welcomeMessage, guestLink, actions };
  const media = { connection, connectionLost, packets, serverMessages, localMedia, mediaState, allowed };
  const inRoom = { people, metadata, hands, handsElsewhere: elsewhere, raisedAt, reactions, waitingRoom };
  const view = { narrow, panelCovers, open, unread, openSheet, toggleTab: toggle, leave, leaveAnyway: onLeave };
  return (
    <RoomContexts membership={membership} media={media} people={inRoom} view={view}>
      <main className={seat.room_type === 'video' ? 'room video' : 'room audio'} data-lost={connectionLost || undefined}>
        <RoomHeader heading={heading} endsAt={warning && metadata.endsAt} />
        {/* Before the stage, so that the keyboard reaches the controls before the many buttons of the tiles. */}
        <Controls />
        <div ref={middle} className="room-middle" data-alone={alone || undefined}>
          {seat.room_type === 'video' ? <VideoStage /> : <AudioStage />}
          {alone && connected && (breakoutName === null ? <EmptyRoom wasAccompanied={wasAccompanied} /> : <BreakoutNotice />)}
          <div className="notices">
            <ConnectionLostBar lost={connectionLost} />
            <Toasts
              endNotice={endNotice}
              onEndNoticeDismissed={() => setDismissedLevel(warning?.level ?? 0)}
              announcement={announcement}
              onAnnouncementDismissed={onAnnouncementDismissed}
              speakingWhileMuted={speakingWhileMuted}
            />
          </div>
        </div>
        <SidePanel chat={chat} onClose={() => setOpen((views) => ({ ...views, panel: null }))} />
        <ChatLiveRegion log={chat.log} />
        <HandsAndReactionsLiveRegion />
        <PresenceLiveRegion endNotice={endNotice} announcement={announcement} />
      </main>
      <Pip />
      <RoomSheets shortcuts={shortcuts} />
    </RoomContexts>
  );
}
