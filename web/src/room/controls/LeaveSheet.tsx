import type { ReactElement } from 'react';
import { t } from '../../messages';
import { Sheet } from '../../ui/Sheet';
import { ActionError } from '../actions/ActionError';
import { useAction } from '../actions/useAction';
import { useMeeting } from '../meeting';

/** Asks the last host whether to leave the room or to end it for all. */
export function LeaveSheet({ onClose }: { onClose: () => void }): ReactElement {
  const { actions, leaveAnyway } = useMeeting();
  const { busy, error, run } = useAction();
  return (
    <Sheet title={t('leave.title')} onClose={onClose}>
      <p>{t('leave.text')}</p>
      <ActionError text={error} />
      <div className="sheet-part">
        <button type="button" className="primary wide" onClick={leaveAnyway}>
          {t('control.leave')}
        </button>
        <button type="button" className="secondary wide" aria-disabled={busy} onClick={() => void run(() => actions.end())}>
          {t(busy ? 'end.ending' : 'end.end')}
        </button>
        <button type="button" className="secondary wide" onClick={onClose}>
          {t('end.cancel')}
        </button>
      </div>
    </Sheet>
  );
}
