import type { Room } from 'livekit-client';
import type { ReactElement } from 'react';
import type { Role, Seat } from '../api/client';
import type { Desk } from '../media/desk';
import type { Studio } from '../media/studio';
import { t } from '../messages';
import { Sheet } from '../ui/Sheet';
import type { Acts } from '../visit/acts';
import { CheckSheet } from './check/CheckSheet';
import { wayOf } from './check/way';
import { RoomsSheet } from './breakout/RoomsSheet';
import { GuestInvite } from './door/GuestInvite';
import { InviteSheet } from './door/InviteSheet';
import type { Door } from './door/useDoor';
import type { GuestLink } from './door/useGuestLink';
import { EndSheet } from './EndSheet';
import type { RoomInfo } from './info';
import { KeysSheet } from './keys/KeysSheet';
import type { Shortcut } from './keys/table';
import { MoreSheet } from './MoreSheet';
import { PeopleSheet } from './PeopleSheet';
import type { Person } from './person';
import type { Entry } from './roll';
import { HandsPart } from './together/HandsPart';
import { TogetherPart } from './together/TogetherPart';
import { LocksSheet } from './tools/LocksSheet';

export type OpenSheet = 'people' | 'react' | 'more' | 'rooms' | 'end' | 'keys' | 'check' | 'locks' | 'invite' | null;

interface Props {
  room: Room;
  open: OpenSheet;
  onOpen: (sheet: OpenSheet) => void;
  desk: Desk;
  studio: Studio;
  seat: Seat;
  /** What the visitor is now; a host may have changed it since the seat was taken. */
  role: Role;
  info: RoomInfo;
  people: Entry<Person>[];
  /** Those whose hand is up, in order. */
  hands: readonly Person[];
  unread: number | null;
  onChat: () => void;
  narrow: boolean;
  shortcuts: readonly Shortcut[];
  /** Whether the visitor may speak. */
  talks: boolean;
  acts: Acts;
  guests: GuestLink;
  door: Door;
}

/** What lies over the stage now; one at a time. */
export function RoomSheets({ room, open, onOpen, desk, studio, seat, role, info, people, hands, unread, onChat, narrow, shortcuts, talks, acts, guests, door }: Props): ReactElement | null {
  const close = (): void => onOpen(null);
  const together = <TogetherPart acts={acts} up={hands.some(({ you }) => you)} onDone={close} />;
  switch (open) {
    case null:
      return null;
    case 'people':
      return (
        <PeopleSheet
          people={people}
          video={desk.video}
          hands={<HandsPart acts={acts} hands={hands} runs={role !== 'guest'} />}
          tools={role === 'guest' ? null : { acts, role, door, onLocks: () => onOpen('locks') }}
          onClose={close}
        />
      );
    case 'locks':
      return <LocksSheet acts={acts} seat={seat} locks={info.locks} onClose={close} />;
    case 'react':
      return (
        <Sheet title={t('react.title')} onClose={close}>
          {together}
        </Sheet>
      );
    case 'more': {
      const invite =
        role === 'guest' ? (
          guests.link && <GuestInvite guests={guests} />
        ) : (
          <button type="button" className="secondary wide" onClick={() => onOpen('invite')}>
            {t('invite.open')}
          </button>
        );
      const mayOpenRooms = role !== 'guest' && seat.max_breakouts > 0;
      return (
        <MoreSheet
          desk={desk}
          studio={studio}
          invite={invite}
          together={narrow ? together : null}
          unread={narrow ? unread : null}
          onChat={onChat}
          people={narrow ? people.length : null}
          onPeople={() => onOpen('people')}
          onRooms={mayOpenRooms || info.breakouts.length > 0 ? () => onOpen('rooms') : null}
          onKeys={() => onOpen('keys')}
          onCheck={() => onOpen('check')}
          onEnd={role === 'host' ? () => onOpen('end') : null}
          onClose={close}
        />
      );
    }
    case 'rooms': {
      const others = people.filter(({ person, goneAt }) => !person.you && goneAt === null).map(({ person }) => person);
      return <RoomsSheet acts={acts} seat={{ ...seat, role }} info={info} people={others} onClose={close} />;
    }
    case 'invite':
      return <InviteSheet acts={acts} seat={seat} guests={guests} waitingRoom={info.locks.waiting_room} onClose={close} />;
    case 'keys':
      return <KeysSheet shortcuts={shortcuts} talks={talks} onClose={close} />;
    case 'check':
      return <CheckSheet studio={studio} findWay={() => wayOf(room)} connected onClose={close} />;
    case 'end':
      return <EndSheet acts={acts} onClose={close} />;
  }
}
