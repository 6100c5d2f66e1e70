import { useEffect, useState, type ReactElement } from 'react';
import type { Seat } from '../../api/client';
import { t } from '../../messages';
import { Sheet } from '../../ui/Sheet';
import { Switch } from '../../ui/Switch';
import type { Acts } from '../../visit/acts';
import { ActTrouble } from '../ActTrouble';
import type { Lock, Locks } from '../info';
import { useAct } from '../useAct';

interface Props {
  acts: Acts;
  seat: Seat;
  locks: Locks;
  onClose: () => void;
}

/** What guests may do, of what this room can do at all. */
export function LocksSheet({ acts, seat, locks, onClose }: Props): ReactElement {
  const { trouble, run } = useAct();
  // Shown at once; the room says so a moment later.
  const [asked, setAsked] = useState<{ lock: Lock; to: boolean } | null>(null);
  useEffect(() => setAsked(null), [locks]);
  const video = seat.room_type === 'video';
  const offered: [Lock, string][] = [['microphone', t('tools.locks.mic')]];
  if (video && seat.features.camera) offered.push(['camera', t('tools.locks.camera')]);
  if (video && seat.features.screen_share) offered.push(['screen_share', t('tools.locks.screen')]);
  if (seat.features.chat) offered.push(['chat', t('tools.locks.chat')]);
  async function change(lock: Lock, to: boolean): Promise<void> {
    setAsked({ lock, to });
    if (!(await run(() => acts.lock({ [lock]: to })))) setAsked(null);
  }
  return (
    <Sheet title={t('tools.locks')} onClose={onClose}>
      <p>{t('tools.locks.text')}</p>
      <div className="sheet-part">
        {offered.map(([lock, label]) => (
          <Switch
            key={lock}
            label={label}
            on={!(asked?.lock === lock ? asked.to : locks[lock])}
            onChange={(may) => void change(lock, !may)}
          />
        ))}
      </div>
      <div className="sheet-part">
        <Switch
          label={t('tools.locks.wait')}
          on={asked?.lock === 'waiting_room' ? asked.to : locks.waiting_room}
          onChange={(wait) => void change('waiting_room', wait)}
        />
        <p className="small quiet">{t('tools.locks.wait.text')}</p>
      </div>
      <ActTrouble text={trouble} />
    </Sheet>
  );
}
