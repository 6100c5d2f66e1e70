import type { ReactElement } from 'react';
import { Store } from '../lib/store';
import type { Fault, Kind } from '../media/faults';

/** Says where to allow a blocked device: it comes with the room, and is null until then. */
export const wayOutText = new Store<((props: { kind: Kind; fault: Fault }) => ReactElement | null) | null>(null);
