import type { ReactElement } from 'react';
import type { CaptureKind } from '../media/faults';
import { t } from '../messages';

/** Says that the system has interrupted a device, which usually ends by itself. */
export function DeviceInterrupted({ kind, onRetry }: { kind: CaptureKind; onRetry: () => void }): ReactElement {
  return (
    <>
      <p>{t(kind === 'mic' ? 'mic.withheld' : 'camera.withheld')}</p>
      <button type="button" className="secondary" onClick={onRetry}>
        {t('device.again')}
      </button>
    </>
  );
}
