/** Everything that is loaded only for the room. */
import { LogLevel, setLogLevel } from 'livekit-client';
import { addIcons } from '../ui/Icon';
import { roomIcons } from './roomIcons';

export { RoomActions } from '../visit/roomActions';
export { CheckSheet } from './check/CheckSheet';
export { connectForMoment, selectedCandidates, testMediaRoute } from './check/mediaRoute';
export { Session } from './connection/session';
export { PermissionHelp } from './permissionHelp/PermissionHelp';
export { RoomScreen } from './RoomScreen';

export type RoomModule = typeof import('./index');

addIcons(roomIcons);
// The console shows only warnings and errors.
setLogLevel(LogLevel.warn);
