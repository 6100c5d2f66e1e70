import type { ReactElement } from 'react';
import { isMicActive } from '../../media/mediaState';
import { t } from '../../messages';
import { useMeeting } from '../meeting';
import { DismissibleBanner } from '../notices/DismissibleBanner';
import { type HostAction, useHostNotice } from './useHostNotice';

const changeKeys = { cohost: 'host.cohost', guest: 'host.guest', locks: 'host.locks' } as const;

/** Shows what a host has changed for the visitor. Only the visitor can turn on the own microphone. */
export function HostNotice(): ReactElement {
  const { room, role, allowed, localMedia, mediaState } = useMeeting();
  const [action, dismiss] = useHostNotice(room, role, allowed, localMedia);
  // A visitor who is already speaking does not need the notice.
  const stale = isMicActive(mediaState) && (action?.is === 'muted' || action?.is === 'asks');
  return (
    <div role="status" className="banner-slot">
      {action && !stale && (
        <DismissibleBanner onDismiss={dismiss}>
          <p>{actionText(action)}</p>
          {action.is === 'asks' && (
            <p className="banner-action">
              <button type="button" className="primary" onClick={() => void localMedia.setMicOn(true)}>
                {t('host.unmute')}
              </button>
            </p>
          )}
        </DismissibleBanner>
      )}
    </div>
  );
}

function actionText(action: HostAction): string {
  switch (action.is) {
    case 'muted':
      return t('host.muted', { name: action.from });
    case 'asks':
      return t('host.asks', { name: action.from });
    default:
      return t(changeKeys[action.is]);
  }
}
