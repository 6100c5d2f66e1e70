import type { ReactElement } from 'react';
import { t } from '../messages';
import { Sheet } from '../ui/Sheet';
import type { Acts } from '../visit/acts';
import { ActTrouble } from './ActTrouble';
import { useAct } from './useAct';

/** Ends the room for all, after saying what that means. */
export function EndSheet({ acts, onClose }: { acts: Acts; onClose: () => void }): ReactElement {
  const { busy, trouble, run } = useAct();
  return (
    <Sheet title={t('end.title')} onClose={onClose}>
      <p>{t('end.text')}</p>
      <ActTrouble text={trouble} />
      <div className="sheet-part">
        <button type="button" className="primary final wide" aria-disabled={busy} onClick={() => void run(() => acts.end())}>
          {t(busy ? 'end.ending' : 'end.end')}
        </button>
        <button type="button" className="secondary wide" onClick={onClose}>
          {t('end.not')}
        </button>
      </div>
    </Sheet>
  );
}
