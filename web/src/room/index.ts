/** Everything that is loaded only for the room. */
import { LogLevel, setLogLevel } from 'livekit-client';
import { addShapes } from '../ui/Icon';
import { roomShapes } from './shapes';

export { RoomActions } from '../visit/roomActions';
export { Session } from './session';
export { CheckSheet } from './check/CheckSheet';
export { testMediaRoute } from './check/mediaRoute';
export { RoomScreen } from './RoomScreen';
export { PermissionHelp } from './permissionHelp/PermissionHelp';

export type RoomModule = typeof import('./index');

addShapes(roomShapes);
// The console shows only warnings and errors.
setLogLevel(LogLevel.warn);
