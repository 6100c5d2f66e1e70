import type { ReactElement } from 'react';
import { t, type PlainKey } from '../messages';
import type { Trouble } from '../visit/state';

const words = {
  unreachable: 'lobby.unreachable',
  gaveUp: 'lobby.gaveUp',
  noMedia: 'lobby.noMedia',
  name: 'lobby.name.refused',
  stale: 'lobby.stale',
  busyNetwork: 'lobby.busyNetwork',
} as const satisfies Record<Trouble, PlainKey>;

/** Why joining did not work, read out when it appears. */
export function TroubleText({ trouble }: { trouble: Trouble | null }): ReactElement {
  return (
    <div role="alert" className="trouble">
      {trouble && <p>{t(words[trouble])}</p>}
    </div>
  );
}
