import type { ReactElement } from 'react';
import { t } from '../../messages';
import { useStore } from '../../state/useStore';
import { formatPercent } from './percent';
import { volumes } from './volumes';

/** Shows that the visitor has turned a person down. */
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
