import type { ReactElement } from 'react';
import { t } from '../../messages';
import { Sheet } from '../../ui/Sheet';
import { useMeetingPeople, useMembership } from '../meeting';
import { BreakoutList } from './BreakoutList';
import { HostBreakouts } from './HostBreakouts';

/** Breakout rooms: everybody can move between them, and hosts manage them. */
export function BreakoutSheet({ onClose }: { onClose: () => void }): ReactElement {
  const { isModerator } = useMembership();
  const { metadata } = useMeetingPeople();
  const rooms = [{ number: 0, name: t('rooms.main') }, ...metadata.breakouts];
  const open = metadata.breakouts.length > 0;
  return (
    <Sheet title={t('rooms.title')} onClose={onClose}>
      {open && <BreakoutList rooms={rooms} onMoved={onClose} />}
      {!open && !isModerator && <p>{t('rooms.none')}</p>}
      {isModerator && <HostBreakouts rooms={rooms} />}
    </Sheet>
  );
}
