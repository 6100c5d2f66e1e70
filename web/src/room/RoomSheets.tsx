import type { ReactElement } from 'react';
import type { Seat } from '../api/client';
import type { Desk } from '../media/desk';
import type { Studio } from '../media/studio';
import type { Acts } from '../visit/acts';
import { RoomsSheet } from './breakout/RoomsSheet';
import type { Sent } from './breakout/whereabouts';
import { EndSheet } from './EndSheet';
import type { RoomInfo } from './info';
import { MoreSheet } from './MoreSheet';
import { PeopleSheet } from './PeopleSheet';
import type { Person } from './person';
import type { Entry } from './roll';

export type OpenSheet = 'people' | 'more' | 'rooms' | 'end' | null;

interface Props {
  open: OpenSheet;
  onOpen: (sheet: OpenSheet) => void;
  desk: Desk;
  studio: Studio;
  seat: Seat;
  info: RoomInfo;
  people: Entry<Person>[];
  narrow: boolean;
  acts: Acts;
  invitation: string;
  sent: ReadonlyMap<string, Sent>;
  onSent: (sent: [identity: string, sent: Sent][]) => void;
}

/** What lies over the stage now; one at a time. */
export function RoomSheets({ open, onOpen, desk, studio, seat, info, people, narrow, acts, invitation, sent, onSent }: Props): ReactElement | null {
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
          onEnd={seat.role === 'host' ? () => onOpen('end') : null}
          onClose={close}
        />
      );
    }
    case 'rooms': {
      const others = people.filter(({ person, goneAt }) => !person.you && goneAt === null).map(({ person }) => person);
      return <RoomsSheet acts={acts} seat={seat} info={info} people={others} sent={sent} onSent={onSent} onClose={close} />;
    }
    case 'end':
      return <EndSheet acts={acts} onClose={close} />;
  }
}
