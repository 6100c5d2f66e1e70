import type { ReactElement } from 'react';
import { isCameraActive } from '../../media/mediaState';
import { t } from '../../messages';
import { useStore } from '../../state/useStore';
import { useMeetingMedia } from '../meeting';
import { saveData } from '../stage/viewPreferences';

/** Says that the visitor's own connection is weak, with the most effective remedy that is left. */
export function WeakConnectionText(): ReactElement {
  const { mediaState } = useMeetingMedia();
  const saving = useStore(saveData);
  const cameraActive = isCameraActive(mediaState);
  if (!mediaState.video || (saving && !cameraActive)) return <p>{t('room.weak')}</p>;
  return (
    <>
      <p>{t(saving ? 'room.weak.camera' : cameraActive ? 'room.weak.both' : 'room.weak.save')}</p>
      {!saving && (
        <p className="toast-action">
          <button type="button" className="primary" onClick={() => saveData.save(true)}>
            {t('lowData.label')}
          </button>
        </p>
      )}
    </>
  );
}
