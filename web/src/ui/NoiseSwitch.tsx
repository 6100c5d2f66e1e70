import type { ReactElement } from 'react';
import type { MediaState } from '../media/mediaState';
import type { LocalMedia } from '../media/localMedia';
import { t } from '../messages';
import { Switch } from './Switch';

// Typed as always there; on a page without TLS it is not.
const canSuppress = (navigator.mediaDevices as MediaDevices | undefined)?.getSupportedConstraints().noiseSuppression === true;

/** Takes noise out of what the microphone hears, where the browser itself can; music needs it off. */
export function NoiseSwitch({ mediaState: { noiseSuppression }, localMedia }: { mediaState: MediaState; localMedia: LocalMedia }): ReactElement | null {
  return canSuppress ? <Switch label={t('mic.noise')} on={noiseSuppression} onChange={(on) => void localMedia.setNoiseSuppression(on)} /> : null;
}
