import type { ReactElement } from 'react';
import type { Role, Seat } from '../api/client';
import type { Desk } from '../media/desk';
import type { Studio } from '../media/studio';
import type { Acts } from '../visit/acts';
import { RoomsSheet } from './breakout/RoomsSheet';
import { EndSheet } from './EndSheet';
import type { RoomInfo } from './info';
import { KeysSheet } from './keys/KeysSheet';
import type { Shortcut } from './keys/table';
import { MoreSheet } from './MoreSheet';
import { PeopleSheet } from './PeopleSheet';
import type { Person } from './person';
import type { Entry } from './roll';
import { LocksSheet } from './tools/LocksSheet';

export type OpenSheet = 'people' | 'more' | 'rooms' | 'end' | 'keys' | 'locks' | null;

interface Props {
  open: OpenSheet;
  onOpen: (sheet: OpenSheet) => void;
  desk: Desk;
  studio: Studio;
  seat: Seat;
  /** What the visitor is now; a host may have changed it since the seat was taken. */
  role: Role;
  info: RoomInfo;
  people: Entry<Person>[];
  narrow: boolean;
  shortcuts: readonly Shortcut[];
  /** Whether the visitor may speak. */
  talks: boolean;
  acts: Acts;
  invitation: string;
}

/** What lies over the stage now; one at a time. */
export function RoomSheets({ open, onOpen, desk, studio, seat, role, info, people, narrow, shortcuts, talks, acts, invitation }: Props): ReactElement | null {
  const close = (): void => onOpen(null);
  switch (open) {
    case null:
      return null;
    case 'people':
      return (
        <PeopleSheet people={people} tools={role === 'guest' ? null : { acts, role, onLocks: () => onOpen('locks') }} onClose={close} />
      );
    case 'locks':
      return <LocksSheet acts={acts} seat={seat} locks={info.locks} onClose={close} />;
    case 'more': {
      const mayOpenRooms = role !== 'guest' && seat.max_breakouts > 0;
      return (
        <MoreSheet
          desk={desk}
          studio={studio}
          link={invitation}
          people={narrow ? people.length : null}
          onPeople={() => onOpen('people')}
          onRooms={mayOpenRooms || info.breakouts.length > 0 ? () => onOpen('rooms') : null}
          onKeys={() => onOpen('keys')}
          onEnd={role === 'host' ? () => onOpen('end') : null}
          onClose={close}
        />
      );
    }
    case 'rooms': {
      const others = people.filter(({ person, goneAt }) => !person.you && goneAt === null).map(({ person }) => person);
      return <RoomsSheet acts={acts} seat={{ ...seat, role }} info={info} people={others} onClose={close} />;
    }
    case 'keys':
      return <KeysSheet shortcuts={shortcuts} talks={talks} onClose={close} />;
    case 'end':
      return <EndSheet acts={acts} onClose={close} />;
  }
}
