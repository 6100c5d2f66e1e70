import type { ReactElement } from 'react';
import { Store } from '../lib/store';
import type { Fault, CaptureKind } from '../media/faults';

/** Says where to allow a blocked device: it comes with the room, and is null until then. */
export const permissionHelp = new Store<((props: { kind: CaptureKind; fault: Fault }) => ReactElement | null) | null>(null);
