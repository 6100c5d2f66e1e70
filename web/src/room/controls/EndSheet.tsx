import type { ReactElement } from 'react';
import { t } from '../../messages';
import { Sheet } from '../../ui/Sheet';
import { ActionError } from '../actions/ActionError';
import { useAction } from '../actions/useAction';
import { useMeeting } from '../meeting';

/** Asks for confirmation and ends the room for everybody. */
export function EndSheet({ onClose }: { onClose: () => void }): ReactElement {
  const { actions } = useMeeting();
  const { busy, error, run } = useAction();
  return (
    <Sheet title={t('end.title')} onClose={onClose}>
      <p>{t('end.text')}</p>
      <ActionError text={error} />
      <div className="sheet-part">
        <button type="button" className="primary final wide" aria-disabled={busy} onClick={() => void run(() => actions.end())}>
          {t(busy ? 'end.ending' : 'end.end')}
        </button>
        <button type="button" className="secondary wide" onClick={onClose}>
          {t('end.cancel')}
        </button>
      </div>
    </Sheet>
  );
}
