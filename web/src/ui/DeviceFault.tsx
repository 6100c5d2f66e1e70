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

/** What a page withholds of both devices for one reason, so that one text and one button are enough. */
const faultOfBothKeys = {
  blocked: 'fault.both.blocked',
  insecure: 'fault.both.insecure',
  app: 'fault.both.blocked',
} as const satisfies Partial<Record<Fault, PlainKey>>;

export type FaultOfBoth = keyof typeof faultOfBothKeys;

/** Whether a fault is explained once if both devices have it. */
export const isFaultOfBoth = (fault: Fault): fault is FaultOfBoth => fault in faultOfBothKeys;

type Props = ({ kind: CaptureKind; fault: Fault } | { kind: 'both'; fault: FaultOfBoth }) & {
  onRetry: () => void;
  /** Continues without the device, where that is a choice. */
  onContinueWithout?: () => void;
};

/** Explains why a device, or both, is not available, and what to do. */
export function DeviceFault({ onRetry, onContinueWithout, ...failed }: Props): ReactElement {
  const { kind, fault } = failed;
  const PermissionHelp = useStore(permissionHelp);
  return (
    <>
      <p>{t(failed.kind === 'both' ? faultOfBothKeys[failed.fault] : faultKeys[failed.kind][failed.fault])}</p>
      {PermissionHelp && <PermissionHelp kind={kind === 'camera' ? 'camera' : 'mic'} fault={fault} />}
      {fault !== 'insecure' && fault !== 'app' && (
        <button type="button" className="secondary" onClick={onRetry}>
          {t('device.again')}
        </button>
      )}
      {onContinueWithout && (
        <button type="button" className="secondary" onClick={onContinueWithout}>
          {t(kind === 'camera' ? 'device.camera.without' : 'device.mic.without')}
        </button>
      )}
    </>
  );
}
