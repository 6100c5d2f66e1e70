import type { ReactElement } from 'react';
import type { Desk } from '../media/desk';
import type { Studio } from '../media/studio';
import { t } from '../messages';
import { Switch } from './Switch';

// Typed as always there; on a page without TLS it is not.
const canSuppress = (navigator.mediaDevices as MediaDevices | undefined)?.getSupportedConstraints().noiseSuppression === true;

/** Takes noise out of what the microphone hears, where the browser itself can; music needs it off. */
export function NoiseSwitch({ desk: { noiseSuppression }, studio }: { desk: Desk; studio: Studio }): ReactElement | null {
  return canSuppress ? <Switch label={t('mic.noise')} on={noiseSuppression} onChange={(on) => void studio.setNoiseSuppression(on)} /> : null;
}
