/** All that is loaded only for the room. */
import { LogLevel, setLogLevel } from 'livekit-client';
import { addShapes } from '../ui/Icon';
import { roomShapes } from './shapes';

export { RoomActions as Acts } from '../visit/roomActions';
export { Session } from './session';
export { CheckSheet } from './check/CheckSheet';
export { testMediaRoute as tryWay } from './check/mediaRoute';
export { RoomScreen } from './RoomScreen';
export { PermissionHelp as WayOutText } from './permissionHelp/PermissionHelp';

export type RoomModule = typeof import('./index');

addShapes(roomShapes);
// The console is for what is wrong, not for what goes well.
setLogLevel(LogLevel.warn);
