import { type ReactElement, useEffect, useId, useState } from 'react';
import { t } from '../../messages';
import { Switch } from '../../ui/Switch';
import { ActionError } from '../actions/ActionError';
import { useAction } from '../actions/useAction';
import type { Lock } from '../connection/roomMetadata';
import { useMeetingPeople, useMembership } from '../meeting';

/** Locks and unlocks what guests may do, limited to the features of the room. */
export function GuestPermissions(): ReactElement {
  const { actions, seat } = useMembership();
  const { metadata } = useMeetingPeople();
  const { locks } = metadata;
  const { error, run } = useAction();
  const id = useId();
  // Shown immediately; the room metadata follows a moment later.
  const [pending, setPending] = useState<{ lock: Lock; to: boolean } | null>(null);
  useEffect(() => setPending(null), [locks]);
  const video = seat.room_type === 'video';
  const offered: [Lock, string][] = [['microphone', t('moderation.locks.mic')]];
  if (video && seat.features.camera) offered.push(['camera', t('moderation.locks.camera')]);
  if (video && seat.features.screen_share) offered.push(['screen_share', t('moderation.locks.screen')]);
  if (seat.features.chat) offered.push(['chat', t('moderation.locks.chat')]);
  async function change(lock: Lock, to: boolean): Promise<void> {
    setPending({ lock, to });
    if (!(await run(() => actions.updateLocks({ [lock]: to })))) setPending(null);
  }
  return (
    <section className="sheet-part" aria-labelledby={id}>
      <h3 id={id}>{t('moderation.locks')}</h3>
      <p className="small quiet">{t('moderation.locks.text')}</p>
      <div>
        {offered.map(([lock, label]) => (
          <Switch
            key={lock}
            label={label}
            on={!(pending?.lock === lock ? pending.to : locks[lock])}
            onChange={(may) => void change(lock, !may)}
          />
        ))}
        <Switch
          label={t('moderation.locks.wait')}
          on={pending?.lock === 'waiting_room' ? pending.to : locks.waiting_room}
          onChange={(wait) => void change('waiting_room', wait)}
        />
      </div>
      <p className="small quiet">{t('moderation.locks.wait.text')}</p>
      <ActionError text={error} />
    </section>
  );
}
