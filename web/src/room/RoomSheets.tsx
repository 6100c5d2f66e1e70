import type { Room } from 'livekit-client';
import type { ReactElement } from 'react';
import type { Role, Seat } from '../api/client';
import type { MediaState } from '../media/mediaState';
import type { LocalMedia } from '../media/localMedia';
import { t } from '../messages';
import { Sheet } from '../ui/Sheet';
import type { RoomActions } from '../visit/roomActions';
import { CheckSheet } from './check/CheckSheet';
import { mediaRouteOf } from './check/mediaRoute';
import { BreakoutSheet } from './breakout/BreakoutSheet';
import { GuestInvite } from './invite/GuestInvite';
import { InviteSheet } from './invite/InviteSheet';
import type { WaitingRoom } from './waitingRoom/useWaitingRoom';
import type { GuestLink } from './invite/useGuestLink';
import { EndSheet } from './controls/EndSheet';
import type { RoomMetadata } from './connection/roomMetadata';
import { ShortcutsSheet } from './shortcuts/ShortcutsSheet';
import type { Shortcut } from './shortcuts/shortcuts';
import { MoreSheet } from './controls/MoreSheet';
import type { OpenSheet } from './openSheet';
import { PeopleSheet } from './people/PeopleSheet';
import type { Person } from './people/person';
import type { RosterEntry } from './people/roster';
import { RaisedHands } from './reactions/RaisedHands';
import { HandsAndReactionsPart } from './reactions/HandsAndReactionsPart';
import { LocksSheet } from './moderation/LocksSheet';

interface Props {
  room: Room;
  open: OpenSheet;
  onOpen: (sheet: OpenSheet) => void;
  mediaState: MediaState;
  localMedia: LocalMedia;
  seat: Seat;
  /** The visitor's current role, which a host may have changed since the seat was taken. */
  role: Role;
  metadata: RoomMetadata;
  people: RosterEntry<Person>[];
  /** The people whose hand is raised, in order. */
  hands: readonly Person[];
  unread: number | null;
  onChat: () => void;
  narrow: boolean;
  shortcuts: readonly Shortcut[];
  /** Whether the visitor may use the microphone. */
  micAllowed: boolean;
  actions: RoomActions;
  guestLink: GuestLink;
  waitingRoom: WaitingRoom;
}

/** The open sheet; at most one at a time. */
export function RoomSheets({ room, open, onOpen, mediaState, localMedia, seat, role, metadata, people, hands, unread, onChat, narrow, shortcuts, micAllowed, actions, guestLink, waitingRoom }: Props): ReactElement | null {
  const closeSheet = (): void => onOpen(null);
  const handsAndReactions = <HandsAndReactionsPart actions={actions} handRaised={hands.some(({ you }) => you)} onDone={closeSheet} />;
  switch (open) {
    case null:
      return null;
    case 'people':
      return (
        <PeopleSheet
          people={people}
          video={mediaState.video}
          hands={<RaisedHands actions={actions} hands={hands} isModerator={role !== 'guest'} />}
          moderation={role === 'guest' ? null : { actions, role, waitingRoom, onOpenLocks: () => onOpen('locks') }}
          onClose={closeSheet}
        />
      );
    case 'locks':
      return <LocksSheet actions={actions} seat={seat} locks={metadata.locks} onClose={closeSheet} />;
    case 'react':
      return (
        <Sheet title={t('react.title')} onClose={closeSheet}>
          {handsAndReactions}
        </Sheet>
      );
    case 'more': {
      const invite =
        role === 'guest' ? (
          guestLink.link && <GuestInvite guestLink={guestLink} />
        ) : (
          <button type="button" className="secondary wide" onClick={() => onOpen('invite')}>
            {t('invite.open')}
          </button>
        );
      const mayOpenRooms = role !== 'guest' && seat.max_breakouts > 0;
      return (
        <MoreSheet
          mediaState={mediaState}
          localMedia={localMedia}
          invite={invite}
          handsAndReactions={narrow ? handsAndReactions : null}
          unread={narrow ? unread : null}
          onChat={onChat}
          people={narrow ? people.length : null}
          onPeople={() => onOpen('people')}
          onRooms={mayOpenRooms || metadata.breakouts.length > 0 ? () => onOpen('rooms') : null}
          onShortcuts={() => onOpen('keys')}
          onCheck={() => onOpen('check')}
          onEnd={role === 'host' ? () => onOpen('end') : null}
          onClose={closeSheet}
        />
      );
    }
    case 'rooms': {
      const others = people.filter(({ person, disconnectedAt }) => !person.you && disconnectedAt === null).map(({ person }) => person);
      return <BreakoutSheet actions={actions} seat={{ ...seat, role }} metadata={metadata} people={others} onClose={closeSheet} />;
    }
    case 'invite':
      return <InviteSheet actions={actions} seat={seat} guestLink={guestLink} waitingRoomEnabled={metadata.locks.waiting_room} onClose={closeSheet} />;
    case 'keys':
      return <ShortcutsSheet shortcuts={shortcuts} micAllowed={micAllowed} onClose={closeSheet} />;
    case 'check':
      return <CheckSheet localMedia={localMedia} findRoute={() => mediaRouteOf(room)} connected onClose={closeSheet} />;
    case 'end':
      return <EndSheet actions={actions} onClose={closeSheet} />;
  }
}
