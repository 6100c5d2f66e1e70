import type { ReactElement } from 'react';
import { t } from '../../messages';
import { ActionError } from '../actions/ActionError';
import { useMembership } from '../meeting';
import { InviteLink } from './InviteLink';

/** The link for guests, or a button to create one. */
export function GuestInvite(): ReactElement | null {
  const { link, create, error } = useMembership().guestLink;
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
