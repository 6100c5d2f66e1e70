import type { ReactElement } from 'react';
import { t } from '../../messages';
import { useDelayedTrue } from '../../time/useDelayedTrue';
import { IconShape } from '../../ui/Icon';
import type { ParticipantConnection } from '../connection/useParticipantConnection';

/** Two rising bars, followed by an exclamation mark or a cross. */
const weakIcon = 'M4.5 20v-4M10.5 20v-8M18 4.5v10M18 19.5h.01';
const lostIcon = 'M4.5 20v-4M10.5 20v-8M15 5.5l6 6M21 5.5l-6 6';

/** Short dips are common and inaudible. */
const minDurationMs = 3_000;

/** Shows that a person's connection is weak or lost. */
export function ConnectionBadge({ state }: { state: ParticipantConnection }): ReactElement | null {
  const isLost = state === 'lost';
  const isWeak = useDelayedTrue(state === 'weak', minDurationMs);
  if (!isLost && !isWeak) return null;
  return (
    <span className="badge-icon connection">
      <IconShape path={isLost ? lostIcon : weakIcon} />
      <span className="connection-text">{t(isLost ? 'connection.lost' : 'connection.weak')}</span>
    </span>
  );
}
