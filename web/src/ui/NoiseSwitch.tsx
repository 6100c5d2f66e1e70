import type { ReactElement } from 'react';
import type { LocalMedia } from '../media/localMedia';
import { type MediaState, suppressesNoise } from '../media/mediaState';
import { t } from '../messages';
import { Switch } from './Switch';

// The type says that it always exists; on a page without TLS it does not.
const canSuppress = (navigator.mediaDevices as MediaDevices | undefined)?.getSupportedConstraints().noiseSuppression === true;

/** Switches noise suppression, in browsers that support it. It has to be off for music. */
export function NoiseSwitch({ mediaState, localMedia }: { mediaState: MediaState; localMedia: LocalMedia }): ReactElement | null {
  return canSuppress ? (
    <Switch label={t('mic.noise')} on={suppressesNoise(mediaState)} onChange={(on) => void localMedia.setNoiseSuppression(on)} />
  ) : null;
}
