import type { ReactElement } from 'react';
import { t } from '../../messages';
import { ActionError } from '../actions/ActionError';
import { InviteLink } from './InviteLink';
import type { GuestLink } from './useGuestLink';

/** The link for guests, or a button to create one. */
export function GuestInvite({ guestLink: { link, create, error } }: { guestLink: GuestLink }): ReactElement | null {
  if (link !== null) return <InviteLink link={link} label={t('invite.link')} copyLabel={t('invite.copy')} />;
  if (!create) return null;
  return (
    <>
      <button type="button" className="secondary wide" onClick={create}>
        {t('invite.make')}
      </button>
      <ActionError text={error} />
    </>
  );
}
