import type { ReactElement } from 'react';
import { t } from '../../messages';
import { Icon } from '../../ui/Icon';
import type { ParticipantConnection } from '../connection/useParticipantConnection';
import { useMeetingMedia } from '../meeting';
import { HandBadge } from '../reactions/HandBadge';
import { ConnectionBadge } from './ConnectionBadge';
import type { Person } from './person';
import { VolumeBadge } from './VolumeBadge';

interface Props {
  person: Person;
  away: boolean;
  connectionState: ParticipantConnection;
  /** The name is not "You" already. */
  withYou?: boolean;
  /** A tile over a picture has no space for it. */
  withRole?: boolean;
}

/** The role, state and connection of a person, next to the name. */
export function Badges({ person, away, connectionState, withYou = true, withRole = true }: Props): ReactElement {
  const { connection } = useMeetingMedia();
  return (
    <>
      <HandBadge identity={person.identity} />
      {person.you && withYou && <span className="badge">{t('room.you')}</span>}
      {person.role !== 'guest' && withRole && <span className="badge">{t(person.role === 'host' ? 'room.host' : 'room.cohost')}</span>}
      <VolumeBadge identity={person.identity} />
      {away ? (
        // While this page has no connection, it does not know about the others.
        connection.is === 'connected' && <span className="badge">{t('room.coming')}</span>
      ) : (
        <>
          {person.muted && (
            <span className="badge-icon">
              <Icon name="micOff" />
              <span className="sr-only">{t('room.muted')}</span>
            </span>
          )}
          <ConnectionBadge state={connectionState} />
        </>
      )}
    </>
  );
}
