import { type ReactElement, useState } from 'react';
import { t } from '../../messages';
import { Icon } from '../../ui/Icon';
import { GuestInvite } from '../invite/GuestInvite';
import { useMeetingView, useMembership } from '../meeting';

/** Shown to a visitor who is alone in the room. */
export function EmptyRoom({ wasAccompanied }: { wasAccompanied: boolean }): ReactElement {
  const { guestLink } = useMembership();
  // Fixed when it appears, so that the text does not change while it is read.
  const [accompaniedBefore] = useState(wasAccompanied);
  return (
    <section className="empty-room" aria-labelledby="empty-room-title">
      <h2 id="empty-room-title">{t(accompaniedBefore ? 'room.alone.now' : 'room.alone.title')}</h2>
      <p className="quiet">{t(guestLink.link ? 'room.alone.text' : guestLink.create ? 'room.alone.make' : 'room.alone.wait')}</p>
      <GuestInvite />
    </section>
  );
}

/** Shown to a visitor who is alone in one of the rooms while breakout rooms are open. */
export function BreakoutNotice(): ReactElement {
  const { breakoutNumber } = useMembership();
  const { openSheet } = useMeetingView();
  const inBreakout = breakoutNumber > 0;
  return (
    <section className="empty-room" aria-labelledby="empty-room-title">
      <h2 id="empty-room-title">{t(inBreakout ? 'rooms.empty.title' : 'rooms.mainEmpty.title')}</h2>
      <p className="quiet">{t(inBreakout ? 'rooms.empty.text' : 'rooms.mainEmpty.text')}</p>
      <button type="button" className="secondary" onClick={() => openSheet('rooms')}>
        <Icon name="rooms" />
        {t('rooms.title')}
      </button>
    </section>
  );
}
