import type { ReactElement } from 'react';
import { t } from '../../messages';
import { Sheet } from '../../ui/Sheet';
import { ActionError } from '../actions/ActionError';
import { useAction } from '../actions/useAction';
import { useMeetingView, useMembership } from '../meeting';

interface Props {
  /** The visitor is the last host and pressed Leave, and may leave the room without ending it. */
  leaving?: boolean;
  onClose: () => void;
}

/** Asks for confirmation and ends the room for everybody. */
export function EndSheet({ leaving = false, onClose }: Props): ReactElement {
  const { actions } = useMembership();
  const { leaveAnyway } = useMeetingView();
  const { busy, error, run } = useAction();
  return (
    <Sheet title={t(leaving ? 'leave.title' : 'end.title')} onClose={onClose}>
      <p>{t(leaving ? 'leave.text' : 'end.text')}</p>
      <ActionError text={error} />
      <div className="sheet-part">
        {leaving && (
          <button type="button" className="primary wide" onClick={leaveAnyway}>
            {t('control.leave')}
          </button>
        )}
        <button
          type="button"
          className={leaving ? 'secondary wide' : 'primary final wide'}
          aria-disabled={busy}
          onClick={() => void run(() => actions.end())}
        >
          {t(busy ? 'end.ending' : 'end.end')}
        </button>
        <button type="button" className="secondary wide" onClick={onClose}>
          {t('end.cancel')}
        </button>
      </div>
    </Sheet>
  );
}
