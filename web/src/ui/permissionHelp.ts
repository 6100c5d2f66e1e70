import type { ReactElement } from 'react';
import type { CaptureKind, Fault } from '../media/faults';
import { Store } from '../state/store';

/** Explains where to allow a blocked device. It is part of the room module, and null until that is loaded. */
export const permissionHelp = new Store<((props: { kind: CaptureKind; fault: Fault }) => ReactElement | null) | null>(null);
