import type { ReactElement } from 'react';
import type { Seat } from '../api/client';
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

export type OpenSheet = 'people' | 'more' | 'rooms' | 'end' | 'keys' | null;

interface Props {
  open: OpenSheet;
  onOpen: (sheet: OpenSheet) => void;
  desk: Desk;
  studio: Studio;
  seat: Seat;
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
export function RoomSheets({ open, onOpen, desk, studio, seat, info, people, narrow, shortcuts, talks, acts, invitation }: Props): ReactElement | null {
  const close = (): void => onOpen(null);
  switch (open) {
    case null:
      return null;
    case 'people':
      return <PeopleSheet people={people} onClose={close} />;
    case 'more': {
      const mayOpenRooms = seat.role !== 'guest' && seat.max_breakouts > 0;
      return (
        <MoreSheet
          desk={desk}
          studio={studio}
          link={invitation}
          people={narrow ? people.length : null}
          onPeople={() => onOpen('people')}
          onRooms={mayOpenRooms || info.breakouts.length > 0 ? () => onOpen('rooms') : null}
          onKeys={() => onOpen('keys')}
          onEnd={seat.role === 'host' ? () => onOpen('end') : null}
          onClose={close}
        />
      );
    }
    case 'rooms': {
      const others = people.filter(({ person, goneAt }) => !person.you && goneAt === null).map(({ person }) => person);
      return <RoomsSheet acts={acts} seat={seat} info={info} people={others} onClose={close} />;
    }
    case 'keys':
      return <KeysSheet shortcuts={shortcuts} talks={talks} onClose={close} />;
    case 'end':
      return <EndSheet acts={acts} onClose={close} />;
  }
}
