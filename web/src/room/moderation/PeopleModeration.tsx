import { type ReactElement, useState } from 'react';
import { t } from '../../messages';
import { ActionError } from '../actions/ActionError';
import { useAction } from '../actions/useAction';
import { useMeetingView, useMembership } from '../meeting';

/** Actions for all guests at once. */
export function PeopleModeration(): ReactElement {
  const { actions } = useMembership();
  const { openSheet } = useMeetingView();
  const { busy, error, run } = useAction();
  const [done, setDone] = useState(false);
  async function muteAll(): Promise<void> {
    setDone(false);
    if (await run(() => actions.muteGuests())) setDone(true);
  }
  return (
    <div className="tool-panel">
      <div className="tool-row">
        <button type="button" className="secondary" aria-disabled={busy} onClick={() => void muteAll()}>
          {t('moderation.muteAll')}
        </button>
        <button type="button" className="secondary" onClick={() => openSheet('room')}>
          {t('moderation.locks')}
        </button>
      </div>
      <p role="status" className="small quiet">
        {done && t('moderation.muteAll.done')}
      </p>
      <ActionError text={error} />
    </div>
  );
}
