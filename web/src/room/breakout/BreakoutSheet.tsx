import type { ReactElement } from 'react';
import type { Seat } from '../../api/client';
import { t } from '../../messages';
import { Sheet } from '../../ui/Sheet';
import type { RoomActions } from '../../visit/roomActions';
import type { RoomMetadata } from '../connection/roomMetadata';
import type { Person } from '../people/person';
import { HostBreakouts } from './HostBreakouts';
import { BreakoutList } from './BreakoutList';

interface Props {
  actions: RoomActions;
  seat: Seat;
  metadata: RoomMetadata;
  /** The other people in this room. */
  people: readonly Person[];
  onClose: () => void;
}

/** Breakout rooms: everybody can move between them, and hosts manage them. */
export function BreakoutSheet({ actions, seat, metadata, people, onClose }: Props): ReactElement {
  const rooms = [{ number: 0, name: t('rooms.main') }, ...metadata.breakouts];
  const host = seat.role !== 'guest';
  const open = metadata.breakouts.length > 0;
  return (
    <Sheet title={t('rooms.title')} onClose={onClose}>
      {open && <BreakoutList actions={actions} rooms={rooms} current={metadata.breakout} onMoved={onClose} />}
      {!open && !host && <p>{t('rooms.none')}</p>}
      {host && <HostBreakouts actions={actions} seat={seat} metadata={metadata} rooms={rooms} present={people} />}
    </Sheet>
  );
}
