import { useState, type ReactElement } from 'react';
import { t } from '../../messages';
import { ActTrouble } from '../ActTrouble';
import { useAct } from '../useAct';
import type { Tools } from './tools';

/** What is done to all guests at once. */
export function PeopleTools({ tools: { acts, onLocks } }: { tools: Tools }): ReactElement {
  const { busy, trouble, run } = useAct();
  const [done, setDone] = useState(false);
  async function muteAll(): Promise<void> {
    setDone(false);
    if (await run(() => acts.muteGuests())) setDone(true);
  }
  return (
    <div className="tool-panel">
      <div className="tool-row">
        <button type="button" className="secondary" aria-disabled={busy} onClick={() => void muteAll()}>
          {t('tools.muteAll')}
        </button>
        <button type="button" className="secondary" onClick={onLocks}>
          {t('tools.locks')}
        </button>
      </div>
      <p role="status" className="small quiet">
        {done && t('tools.muteAll.done')}
      </p>
      <ActTrouble text={trouble} />
    </div>
  );
}
