import type { ReactElement } from 'react';
import type { CaptureKind, Fault } from '../media/faults';
import { type PlainKey, t } from '../messages';
import { useStore } from '../state/useStore';
import { permissionHelp } from './permissionHelp';

const faultKeys = {
  mic: {
    blocked: 'fault.mic.blocked',
    dismissed: 'fault.mic.dismissed',
    system: 'fault.mic.system',
    missing: 'fault.mic.missing',
    busy: 'fault.mic.busy',
    insecure: 'fault.mic.insecure',
    app: 'fault.mic.blocked',
    unknown: 'fault.mic.unknown',
  },
  camera: {
    blocked: 'fault.camera.blocked',
    dismissed: 'fault.camera.dismissed',
    system: 'fault.camera.system',
    missing: 'fault.camera.missing',
    busy: 'fault.camera.busy',
    insecure: 'fault.camera.insecure',
    app: 'fault.camera.blocked',
    unknown: 'fault.camera.unknown',
  },
} as const satisfies Record<CaptureKind, Record<Fault, PlainKey>>;

interface Props {
  kind: CaptureKind;
  fault: Fault;
  onRetry: () => void;
  /** Continues without the device, where that is a choice. */
  onContinueWithout?: () => void;
}

/** Explains why a device is not available, and what to do. */
export function DeviceFault({ kind, fault, onRetry, onContinueWithout }: Props): ReactElement {
  const PermissionHelp = useStore(permissionHelp);
  return (
    <>
      <p>{t(faultKeys[kind][fault])}</p>
      {PermissionHelp && <PermissionHelp kind={kind} fault={fault} />}
      {fault !== 'insecure' && fault !== 'app' && (
        <button type="button" className="secondary" onClick={onRetry}>
          {t('device.again')}
        </button>
      )}
      {onContinueWithout && (
        <button type="button" className="secondary" onClick={onContinueWithout}>
          {t(kind === 'mic' ? 'device.mic.without' : 'device.camera.without')}
        </button>
      )}
    </>
  );
}
