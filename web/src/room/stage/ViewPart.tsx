import type { ReactElement } from 'react';
import { useStore } from '../../lib/useStore';
import { t } from '../../messages';
import { Switch } from '../../ui/Switch';
import { facesOnly, savesData, selfHidden, speakerView } from './choices';

/** How a video room is shown here. */
export function ViewPart(): ReactElement {
  return (
    <section className="sheet-part">
      <h3>{t('view.title')}</h3>
      <Switch label={t('view.speaker')} on={useStore(speakerView)} onChange={(on) => speakerView.choose(on)} />
      <Switch label={t('view.noSelf')} on={useStore(selfHidden)} onChange={(on) => selfHidden.choose(on)} />
      <Switch label={t('view.facesOnly')} on={useStore(facesOnly)} onChange={(on) => facesOnly.choose(on)} />
      <Switch label={t('saving.do')} on={useStore(savesData)} onChange={(on) => savesData.choose(on)} />
      <p className="small quiet">{t('saving.text')}</p>
    </section>
  );
}
