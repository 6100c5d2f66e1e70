import { type ReactElement, useState } from 'react';
import { t } from '../../messages';
import { useStore } from '../../state/useStore';
import { Switch } from '../../ui/Switch';
import { useMembership } from '../meeting';
import { announcesPresence } from '../notices/announcesPresence';
import { notificationPermission, requestNotifications } from './knockNotification';
import { soundsOn } from './sounds';

/** Whether the page makes itself heard, and whether it may tell hosts of knocks outside of its tab. */
export function NotificationSettings(): ReactElement {
  const { isModerator } = useMembership();
  const [permission, setPermission] = useState(notificationPermission);
  return (
    <section className="sheet-part">
      <h3>{t('alerts.settings')}</h3>
      <div>
        <Switch label={t('alerts.sounds')} on={useStore(soundsOn)} onChange={(on) => soundsOn.save(on)} />
        <p className="small quiet">{t(isModerator ? 'alerts.sounds.host' : 'alerts.sounds.guest')}</p>
      </div>
      <Switch label={t('alerts.presence')} on={useStore(announcesPresence)} onChange={(on) => announcesPresence.save(on)} />
      {isModerator && permission === 'default' && (
        <button type="button" className="secondary wide" onClick={() => void requestNotifications().then(setPermission)}>
          {t('alerts.allow')}
        </button>
      )}
      {isModerator && (
        <p className="small quiet" role="status">
          {permission === 'granted' && t('alerts.allowed')}
          {permission === 'denied' && t('alerts.denied')}
        </p>
      )}
    </section>
  );
}
