import type { ReactElement } from 'react';
import type { CaptureKind } from '../media/faults';
import { t } from '../messages';

/** That the system gives nothing of a device for now, which mostly ends by itself, and what to do when it does not. */
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
