import type { ReactElement } from 'react';
import { t } from '../../messages';
import { useDelayedTrue } from '../../time/useDelayedTrue';

/** Says over the dimmed stage that the visitor's own connection is lost. */
export function ConnectionLostBar({ lost }: { lost: boolean }): ReactElement {
  const isLong = useDelayedTrue(lost, 15_000);
  return (
    <div className="connection-lost" role="status">
      {lost && <p>{t(isLong ? 'room.stillTrying' : 'room.reconnecting')}</p>}
    </div>
  );
}
