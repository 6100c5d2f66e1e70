import { type ReactElement, useState } from 'react';
import { t } from '../../messages';
import { ActionError } from '../actions/ActionError';
import { useAction } from '../actions/useAction';
import { useMeetingPeople, useMembership } from '../meeting';
import { GuestInvite } from './GuestInvite';
import { InviteLink } from './InviteLink';

/** The link with which guests join and, for hosts, one for a co-host. */
export function InvitePart(): ReactElement | null {
  const { seat, isModerator, guestLink } = useMembership();
  const { metadata } = useMeetingPeople();
  if (!isModerator && guestLink.link === null) return null;
  return (
    <section className="sheet-part">
      <h3>{t('invite.title')}</h3>
      {isModerator && (
        <p className="small quiet">
          {t(seat.invited_only ? 'invite.guests.made' : 'invite.guests.text')} {metadata.locks.waiting_room && t('invite.guests.wait')}
        </p>
      )}
      <GuestInvite />
      {isModerator && <CohostInvite />}
    </section>
  );
}

function CohostInvite(): ReactElement {
  const { actions } = useMembership();
  const { busy, error, run } = useAction();
  const [link, setLink] = useState<string | null>(null);
  async function create(): Promise<void> {
    const result = await run(() => actions.createInvitation('cohost'));
    if (result) setLink(result.value.link);
  }
  return (
    <>
      <p className="small quiet">{t('invite.cohost.text')}</p>
      {link !== null && <InviteLink key={link} link={link} label={t('invite.cohost.link')} copyLabel={t('invite.cohost.copy')} />}
      <button type="button" className="secondary wide" aria-disabled={busy} onClick={() => void create()}>
        {t(link === null ? 'invite.cohost.make' : 'invite.cohost.another')}
      </button>
      <ActionError text={error} />
    </>
  );
}
