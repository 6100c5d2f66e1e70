import type { Room } from 'livekit-client';
import type { ReactElement } from 'react';
import type { Role } from '../../api/client';
import type { Studio } from '../../media/studio';
import { t } from '../../messages';
import type { Allowed } from '../allowed';
import { Dismissible } from '../Dismissible';
import { useHostNotice, type HostSaid } from './useHostNotice';

interface Props {
  room: Room;
  role: Role;
  allowed: Allowed;
  heard: boolean;
  studio: Studio;
}

const changes = { cohost: 'host.cohost', guest: 'host.guest', locks: 'host.locks' } as const;

/** What a host has done to the visitor. Nobody but they turn their microphone on. */
export function HostNotice({ room, role, allowed, heard, studio }: Props): ReactElement {
  const [said, dismiss] = useHostNotice(room, role, allowed, studio);
  // Whoever speaks by now has nothing to read of it.
  const stale = heard && (said?.is === 'muted' || said?.is === 'asks');
  return (
    <div role="status" className="banner-slot">
      {said && !stale && (
        <Dismissible onDismiss={dismiss}>
          <p>{wordsOf(said)}</p>
          {said.is === 'asks' && (
            <p className="banner-act">
              <button type="button" className="primary" onClick={() => void studio.setMicOn(true)}>
                {t('host.unmute')}
              </button>
            </p>
          )}
        </Dismissible>
      )}
    </div>
  );
}

function wordsOf(said: HostSaid): string {
  switch (said.is) {
    case 'muted':
      return t('host.muted', { name: said.from });
    case 'asks':
      return t('host.asks', { name: said.from });
    default:
      return t(changes[said.is]);
  }
}
