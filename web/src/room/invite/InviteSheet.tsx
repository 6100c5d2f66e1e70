import { type ReactElement, useState } from 'react';
import { t } from '../../messages';
import { Sheet } from '../../ui/Sheet';
import { ActionError } from '../actions/ActionError';
import { useAction } from '../actions/useAction';
import { useMeeting } from '../meeting';
import { GuestInvite } from './GuestInvite';
import { InviteLink } from './InviteLink';

/** The links that hosts can give to others. */
export function InviteSheet({ onClose }: { onClose: () => void }): ReactElement {
  const { seat, metadata } = useMeeting();
  return (
    <Sheet title={t('invite.title')} onClose={onClose}>
      <section className="sheet-part">
        <h3>{t('invite.guests')}</h3>
        <p>
          {t(seat.invited_only ? 'invite.guests.made' : 'invite.guests.text')} {metadata.locks.waiting_room && t('invite.guests.wait')}
        </p>
        <GuestInvite />
      </section>
      <CohostInvite />
    </Sheet>
  );
}

function CohostInvite(): ReactElement {
  const { actions } = useMeeting();
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
