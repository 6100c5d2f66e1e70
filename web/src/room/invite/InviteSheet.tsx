import { useState, type ReactElement } from 'react';
import type { Seat } from '../../api/client';
import { t } from '../../messages';
import { Sheet } from '../../ui/Sheet';
import type { RoomActions } from '../../visit/roomActions';
import { ActionError } from '../actions/ActionError';
import { InviteLink } from './InviteLink';
import { useAction } from '../actions/useAction';
import { GuestInvite } from './GuestInvite';
import type { GuestLink } from './useGuestLink';

interface Props {
  actions: RoomActions;
  seat: Seat;
  guestLink: GuestLink;
  /** Guests wait until a host admits them. */
  waitingRoomEnabled: boolean;
  onClose: () => void;
}

/** The links that hosts can give to others. */
export function InviteSheet({ actions, seat, guestLink, waitingRoomEnabled, onClose }: Props): ReactElement {
  return (
    <Sheet title={t('invite.title')} onClose={onClose}>
      <section className="sheet-part">
        <h3>{t('invite.guests')}</h3>
        <p>
          {t(seat.invited_only ? 'invite.guests.made' : 'invite.guests.text')} {waitingRoomEnabled && t('invite.guests.wait')}
        </p>
        <GuestInvite guestLink={guestLink} />
      </section>
      <CohostInvite actions={actions} />
    </Sheet>
  );
}

function CohostInvite({ actions }: { actions: RoomActions }): ReactElement {
  const { busy, error, run } = useAction();
  const [link, setLink] = useState<string | null>(null);
  async function create(): Promise<void> {
    const result = await run(() => actions.createInvitation('cohost'));
    if (result) setLink(result.value.link);
  }
  return (
    <section className="sheet-part">
      <h3>{t('invite.cohost')}</h3>
      <p>{t('invite.cohost.text')}</p>
      {link !== null && <InviteLink key={link} link={link} label={t('invite.cohost.link')} copyLabel={t('invite.cohost.copy')} />}
      <button type="button" className="secondary wide" aria-disabled={busy} onClick={() => void create()}>
        {t(link === null ? 'invite.cohost.make' : 'invite.cohost.another')}
      </button>
      <ActionError text={error} />
    </section>
  );
}
