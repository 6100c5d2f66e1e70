import type { ReactElement } from 'react';
import { type PlainKey, t } from '../messages';
import type { JoinError } from '../visit/state';

const errorKeys = {
  unreachable: 'lobby.unreachable',
  gaveUp: 'lobby.gaveUp',
  noMedia: 'lobby.noMedia',
  name: 'lobby.name.refused',
  loadFailed: 'lobby.stale',
  busyNetwork: 'lobby.busyNetwork',
} as const satisfies Record<JoinError, PlainKey>;

/** Shows why joining failed. Screen readers read it when it appears. */
export function JoinErrorText({ error }: { error: JoinError | null }): ReactElement {
  return (
    <div role="alert" className="action-error">
      {error && <p>{t(errorKeys[error])}</p>}
    </div>
  );
}
