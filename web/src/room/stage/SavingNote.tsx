import type { ReactElement } from 'react';
import { useStore } from '../../lib/useStore';
import { t } from '../../messages';
import { savesData } from './choices';

/** Why the others have no pictures, and the way to have them again. */
export function SavingNote(): ReactElement | null {
  if (!useStore(savesData)) return null;
  return (
    <p className="saving">
      <span>{t('saving.on')}</span>
      <button type="button" className="secondary" onClick={() => savesData.choose(false)}>
        {t('saving.leave')}
      </button>
    </p>
  );
}
