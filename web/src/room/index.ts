/** All that is loaded only for the room. */
import { LogLevel, setLogLevel } from 'livekit-client';

export { Session } from './session';
export { CheckSheet } from './check/CheckSheet';
export { tryWay } from './check/way';
export { RoomScreen } from './RoomScreen';
export { Twice } from './Twice';
export { WayOutText } from './faults/WayOutText';

export type RoomModule = typeof import('./index');

// The console is for what is wrong, not for what goes well.
setLogLevel(LogLevel.warn);
