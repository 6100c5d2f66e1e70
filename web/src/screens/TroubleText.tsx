import type { ReactElement } from 'react';
import { t } from '../messages';
import type { Trouble } from '../visit/state';

const words: Record<Trouble, string> = {
  unreachable: t('lobby.unreachable'),
  gaveUp: t('lobby.gaveUp'),
  noMedia: t('lobby.noMedia'),
  name: t('lobby.name.refused'),
  stale: t('lobby.stale'),
};

/** Why joining did not work, read out when it appears. */
export function TroubleText({ trouble }: { trouble: Trouble | null }): ReactElement {
  return (
    <div role="alert" className="trouble">
      {trouble && <p>{words[trouble]}</p>}
    </div>
  );
}
