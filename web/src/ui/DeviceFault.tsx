import type { ReactElement } from 'react';
import type { Fault, Kind } from '../media/faults';
import { t } from '../messages';

const words: Record<Kind, Record<Fault, string>> = {
  mic: {
    blocked: t('fault.mic.blocked'),
    dismissed: t('fault.mic.dismissed'),
    system: t('fault.mic.system'),
    missing: t('fault.mic.missing'),
    busy: t('fault.mic.busy'),
    insecure: t('fault.mic.insecure'),
    unknown: t('fault.mic.unknown'),
  },
  camera: {
    blocked: t('fault.camera.blocked'),
    dismissed: t('fault.camera.dismissed'),
    system: t('fault.camera.system'),
    missing: t('fault.camera.missing'),
    busy: t('fault.camera.busy'),
    insecure: t('fault.camera.insecure'),
    unknown: t('fault.camera.unknown'),
  },
};

interface Props {
  kind: Kind;
  fault: Fault;
  onAgain: () => void;
  /** Going on without it, where that has to be said. */
  onWithout?: () => void;
}

/** Why a device is not there, and the way out. */
export function DeviceFault({ kind, fault, onAgain, onWithout }: Props): ReactElement {
  return (
    <>
      <p>{words[kind][fault]}</p>
      {fault !== 'insecure' && (
        <button type="button" className="secondary" onClick={onAgain}>
          {t('device.again')}
        </button>
      )}
      {onWithout && (
        <button type="button" className="secondary" onClick={onWithout}>
          {t(kind === 'mic' ? 'device.mic.without' : 'device.camera.without')}
        </button>
      )}
    </>
  );
}
