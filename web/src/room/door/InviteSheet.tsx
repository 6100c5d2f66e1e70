import { useState, type ReactElement } from 'react';
import type { Seat } from '../../api/client';
import { t } from '../../messages';
import { Sheet } from '../../ui/Sheet';
import type { Acts } from '../../visit/acts';
import { ActTrouble } from '../ActTrouble';
import { Invite } from '../Invite';
import { useAct } from '../useAct';
import { GuestInvite } from './GuestInvite';
import type { GuestLink } from './useGuestLink';

interface Props {
  acts: Acts;
  seat: Seat;
  guests: GuestLink;
  /** Guests wait until they are let in. */
  waitingRoom: boolean;
  onClose: () => void;
}

/** The links that those who run the room give to others, and what each is good for. */
export function InviteSheet({ acts, seat, guests, waitingRoom, onClose }: Props): ReactElement {
  return (
    <Sheet title={t('invite.title')} onClose={onClose}>
      <section className="sheet-part">
        <h3>{t('invite.guests')}</h3>
        <p>
          {t(seat.invited_only ? 'invite.guests.made' : 'invite.guests.text')} {waitingRoom && t('invite.guests.wait')}
        </p>
        <GuestInvite guests={guests} />
      </section>
      <CohostPart acts={acts} />
    </Sheet>
  );
}

function CohostPart({ acts }: { acts: Acts }): ReactElement {
  const { busy, trouble, run } = useAct();
  const [link, setLink] = useState<string | null>(null);
  async function make(): Promise<void> {
    const done = await run(() => acts.invite('cohost'));
    if (done) setLink(done.value.link);
  }
  return (
    <section className="sheet-part">
      <h3>{t('invite.cohost')}</h3>
      <p>{t('invite.cohost.text')}</p>
      {link !== null && <Invite key={link} link={link} label={t('invite.cohost.link')} copyLabel={t('invite.cohost.copy')} />}
      <button type="button" className="secondary wide" aria-disabled={busy} onClick={() => void make()}>
        {t(link === null ? 'invite.cohost.make' : 'invite.cohost.another')}
      </button>
      <ActTrouble text={trouble} />
    </section>
  );
}
