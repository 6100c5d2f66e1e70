import type { ReactElement } from 'react';
import { useStore } from '../../lib/useStore';
import { t } from '../../messages';
import { formatPercent } from './percent';
import { volumes } from './volumes';

/** That the visitor has turned somebody down, so that nobody wonders later why they are so quiet. */
export function VolumeBadge({ identity }: { identity: string }): ReactElement | null {
  const volume = useStore(volumes).get(identity);
  if (volume === undefined) return null;
  return (
    <span className="badge">
      <span className="sr-only">{t('volume.label')} </span>
      {formatPercent(volume)}
    </span>
  );
}
