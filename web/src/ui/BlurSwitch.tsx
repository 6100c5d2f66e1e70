import type { ReactElement } from 'react';
import type { LocalMedia } from '../media/localMedia';
import type { MediaState } from '../media/mediaState';
import { t } from '../messages';
import { Switch } from './Switch';

/** Blurs the background, in browsers that support it. */
export function BlurSwitch({ mediaState: { blur }, localMedia }: { mediaState: MediaState; localMedia: LocalMedia }): ReactElement | null {
  return blur === null ? null : <Switch label={t('camera.blur')} on={blur} onChange={(on) => void localMedia.setBlur(on)} />;
}
