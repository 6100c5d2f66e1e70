import { useState, type ReactElement } from 'react';
import { t } from '../messages';
import { Icon } from '../ui/Icon';
import { GuestInvite } from './invite/GuestInvite';
import type { GuestLink } from './invite/useGuestLink';

/** What somebody reads who has nobody to talk to yet. */
export function EmptyRoom({ guestLink, wasAccompanied }: { guestLink: GuestLink; wasAccompanied: boolean }): ReactElement {
  // Said once: the words do not change under the reader's eyes.
  const [othersLeft] = useState(wasAccompanied);
  return (
    <section className="alone" aria-labelledby="alone-title">
      <h2 id="alone-title">{t(othersLeft ? 'room.alone.left' : 'room.alone.title')}</h2>
      <p className="quiet">{t(guestLink.link ? 'room.alone.text' : guestLink.create ? 'room.alone.make' : 'room.alone.wait')}</p>
      <GuestInvite guestLink={guestLink} />
    </section>
  );
}

/** What somebody reads who is alone because the others are elsewhere. */
export function BreakoutNotice({ inBreakout, onRooms }: { inBreakout: boolean; onRooms: () => void }): ReactElement {
  return (
    <section className="alone" aria-labelledby="alone-title">
      <h2 id="alone-title">{t(inBreakout ? 'rooms.alone.title' : 'rooms.apart.title')}</h2>
      <p className="quiet">{t(inBreakout ? 'rooms.alone.text' : 'rooms.apart.text')}</p>
      <button type="button" className="secondary" onClick={onRooms}>
        <Icon name="rooms" />
        {t('rooms.title')}
      </button>
    </section>
  );
}
