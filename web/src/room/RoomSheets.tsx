import type { ReactElement } from 'react';
import type { Seat } from '../api/client';
import type { Desk } from '../media/desk';
import type { Studio } from '../media/studio';
import { t } from '../messages';
import { Sheet } from '../ui/Sheet';
import type { Acts } from '../visit/acts';
import { RoomsSheet } from './breakout/RoomsSheet';
import { EndSheet } from './EndSheet';
import type { RoomInfo } from './info';
import { MoreSheet } from './MoreSheet';
import { PeopleSheet } from './PeopleSheet';
import type { Person } from './person';
import type { Entry } from './roll';
import { HandsPart } from './together/HandsPart';
import { TogetherPart } from './together/TogetherPart';

export type OpenSheet = 'people' | 'react' | 'more' | 'rooms' | 'end' | null;

interface Props {
  open: OpenSheet;
  onOpen: (sheet: OpenSheet) => void;
  desk: Desk;
  studio: Studio;
  seat: Seat;
  info: RoomInfo;
  people: Entry<Person>[];
  /** Those whose hand is up, in order. */
  hands: readonly Person[];
  unread: number | null;
  onChat: () => void;
  narrow: boolean;
  acts: Acts;
  invitation: string;
}

/** What lies over the stage now; one at a time. */
export function RoomSheets({ open, onOpen, desk, studio, seat, info, people, hands, unread, onChat, narrow, acts, invitation }: Props): ReactElement | null {
  const close = (): void => onOpen(null);
  const together = <TogetherPart acts={acts} up={hands.some(({ you }) => you)} onDone={close} />;
  switch (open) {
    case null:
      return null;
    case 'people':
      return <PeopleSheet people={people} hands={<HandsPart acts={acts} hands={hands} runs={seat.role !== 'guest'} />} onClose={close} />;
    case 'react':
      return (
        <Sheet title={t('react.title')} onClose={close}>
          {together}
        </Sheet>
      );
    case 'more': {
      const mayOpenRooms = seat.role !== 'guest' && seat.max_breakouts > 0;
      return (
        <MoreSheet
          desk={desk}
          studio={studio}
          link={invitation}
          together={narrow ? together : null}
          unread={narrow ? unread : null}
          onChat={onChat}
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
      return <RoomsSheet acts={acts} seat={seat} info={info} people={others} onClose={close} />;
    }
    case 'end':
      return <EndSheet acts={acts} onClose={close} />;
  }
}
