import type { ReactElement } from 'react';
import { t } from '../../messages';
import { ActTrouble } from '../ActTrouble';
import { Invite } from '../Invite';
import type { GuestLink } from './useGuestLink';

/** The link for guests, or the way to one. */
export function GuestInvite({ guests: { link, make, trouble } }: { guests: GuestLink }): ReactElement | null {
  if (link !== null) return <Invite link={link} label={t('invite.link')} copyLabel={t('invite.copy')} />;
  if (!make) return null;
  return (
    <>
      <button type="button" className="secondary wide" onClick={make}>
        {t('invite.make')}
      </button>
      <ActTrouble text={trouble} />
    </>
  );
}
