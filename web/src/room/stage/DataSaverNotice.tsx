import type { ReactElement } from 'react';
import { t } from '../../messages';
import { useStore } from '../../state/useStore';
import { saveData } from './viewPreferences';

/** Explains why there is no video of others, with a button to turn it on. */
export function DataSaverNotice(): ReactElement | null {
  if (!useStore(saveData)) return null;
  return (
    <p className="saving">
      <span>{t('lowData.on')}</span>
      <button type="button" className="secondary" onClick={() => saveData.save(false)}>
        {t('lowData.showCameras')}
      </button>
    </p>
  );
}
