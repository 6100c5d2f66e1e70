import type { ReactElement } from 'react';
import { t } from '../../messages';
import { useStore } from '../../state/useStore';
import { Switch } from '../../ui/Switch';
import { useMeetingMedia } from '../meeting';
import { hideSelf, hideWithoutVideo, saveData, speakerView } from '../stage/viewPreferences';
import { canShare } from './Controls';

/** The settings for how this browser shows a video room. */
export function ViewSettings(): ReactElement {
  const { mediaState, localMedia, allowed } = useMeetingMedia();
  return (
    <section className="sheet-part">
      <h3>{t('view.title')}</h3>
      <Switch label={t('view.speaker')} on={useStore(speakerView)} onChange={(on) => speakerView.save(on)} />
      <Switch label={t('view.noSelf')} on={useStore(hideSelf)} onChange={(on) => hideSelf.save(on)} />
      <Switch label={t('view.facesOnly')} on={useStore(hideWithoutVideo)} onChange={(on) => hideWithoutVideo.save(on)} />
      <Switch label={t('lowData.label')} on={useStore(saveData)} onChange={(on) => saveData.save(on)} />
      <p className="small quiet">{t('lowData.text')}</p>
      {allowed.screen && canShare && (
        <>
          <Switch label={t('share.motion')} on={mediaState.screenMotion} onChange={(on) => localMedia.setScreenMotion(on)} />
          <p className="small quiet">{t('share.motionText')}</p>
        </>
      )}
    </section>
  );
}
