/** All that is loaded only for the room. */
export { Session } from './session';
export { RoomScreen } from './RoomScreen';

export type RoomModule = typeof import('./index');
