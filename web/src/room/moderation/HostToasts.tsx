import { type ReactElement, useEffect } from 'react';
import { isMicActive } from '../../media/mediaState';
import { t } from '../../messages';
import { useMeetingMedia, useMeetingPeople, useMembership } from '../meeting';
import { Toast } from '../notices/Toast';
import type { LockChange } from './hostNotices';
import { useHostNotices } from './useHostNotices';

const lockKeys = {
  microphone: ['host.unlocked.microphone', 'host.locked.microphone'],
  camera: ['host.unlocked.camera', 'host.locked.camera'],
  screen_share: ['host.unlocked.screen', 'host.locked.screen'],
  chat: ['host.unlocked.chat', 'host.locked.chat'],
} as const;

/** Shows what hosts have changed for the visitor. Only the visitor can turn on the own microphone. */
export function HostToasts(): ReactElement {
  const { role } = useMembership();
  const { serverMessages, localMedia, mediaState } = useMeetingMedia();
  const { metadata } = useMeetingPeople();
  const [{ mic, role: newRole, locks }, read] = useHostNotices(serverMessages, role, metadata.locks, localMedia);
  // A visitor who is already speaking does not need the notice.
  const speaks = isMicActive(mediaState);
  useEffect(() => {
    if (speaks) read('mic');
  }, [speaks, mic?.key]);
  return (
    <div role="status" className="toast-slot">
      {locks && (
        <Toast key={locks.key} onEnd={() => read('locks')}>
          {locks.changes.map((change) => (
            <p key={change.feature}>{lockText(change)}</p>
          ))}
        </Toast>
      )}
      {newRole && (
        <Toast key={newRole.key} onEnd={() => read('role')}>
          <p>{t(newRole.is === 'cohost' ? 'host.cohost' : 'host.guest')}</p>
        </Toast>
      )}
      {mic && !speaks && (
        <Toast key={mic.key} stays={mic.is === 'asks'} onEnd={() => read('mic')}>
          <p>{t(mic.is === 'asks' ? 'host.asks' : 'host.muted', { name: mic.from })}</p>
          {mic.is === 'asks' && (
            <p className="toast-action">
              <button type="button" className="primary" onClick={() => void localMedia.setMicOn(true)}>
                {t('host.unmute')}
              </button>
            </p>
          )}
        </Toast>
      )}
    </div>
  );
}

const lockText = ({ feature, locked }: LockChange): string => t(lockKeys[feature][locked ? 1 : 0]);
