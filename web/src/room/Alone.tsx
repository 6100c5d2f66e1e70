import { useState, type ReactElement } from 'react';
import { t } from '../messages';
import { Icon } from '../ui/Icon';
import { GuestInvite } from './door/GuestInvite';
import type { GuestLink } from './door/useGuestLink';

/** What somebody reads who has nobody to talk to yet. */
export function Alone({ guests, everMet }: { guests: GuestLink; everMet: boolean }): ReactElement {
  // Said once: the words do not change under the reader's eyes.
  const [left] = useState(everMet);
  return (
    <section className="alone" aria-labelledby="alone-title">
      <h2 id="alone-title">{t(left ? 'room.alone.left' : 'room.alone.title')}</h2>
      <p className="quiet">{t(guests.link ? 'room.alone.text' : guests.make ? 'room.alone.make' : 'room.alone.wait')}</p>
      <GuestInvite guests={guests} />
    </section>
  );
}

/** What somebody reads who is alone because the others are elsewhere. */
export function Apart({ inBreakout, onRooms }: { inBreakout: boolean; onRooms: () => void }): ReactElement {
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
