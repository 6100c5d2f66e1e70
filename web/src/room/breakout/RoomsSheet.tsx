import type { ReactElement } from 'react';
import type { Seat } from '../../api/client';
import { t } from '../../messages';
import { Sheet } from '../../ui/Sheet';
import type { Acts } from '../../visit/acts';
import type { RoomInfo } from '../info';
import type { Person } from '../person';
import { OpenRooms } from './OpenRooms';
import { PlaceList } from './PlaceList';
import { RunRooms } from './RunRooms';
import { whereabouts, type Sent } from './whereabouts';

interface Props {
  acts: Acts;
  seat: Seat;
  info: RoomInfo;
  /** Everybody else here. */
  people: readonly Person[];
  sent: ReadonlyMap<string, Sent>;
  onSent: (sent: [identity: string, sent: Sent][]) => void;
  onClose: () => void;
}

/** Breakout rooms: for everybody the way into each, for hosts all that they do with them. */
export function RoomsSheet({ acts, seat, info, people, sent, onSent, onClose }: Props): ReactElement {
  const places = [{ number: 0, name: t('rooms.main') }, ...info.breakouts];
  const host = seat.role !== 'guest';
  const open = info.breakouts.length > 0;
  return (
    <Sheet title={t('rooms.title')} onClose={onClose}>
      {open && <PlaceList acts={acts} places={places} here={info.breakout} onGone={onClose} />}
      {!open && !host && <p>{t('rooms.none')}</p>}
      {!open && host && <OpenRooms acts={acts} most={seat.max_breakouts} people={people} onSent={onSent} />}
      {open && host && (
        <RunRooms
          acts={acts}
          places={places}
          people={whereabouts(info.breakout, people, sent, info.breakouts)}
          onSent={onSent}
        />
      )}
    </Sheet>
  );
}
