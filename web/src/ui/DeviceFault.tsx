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
}

/** Why a device is not there, and the way out. */
export function DeviceFault({ kind, fault, onAgain }: Props): ReactElement {
  return (
    <>
      <p>{words[kind][fault]}</p>
      {fault !== 'insecure' && (
        <button type="button" className="secondary" onClick={onAgain}>
          {t('device.again')}
        </button>
      )}
    </>
  );
}
