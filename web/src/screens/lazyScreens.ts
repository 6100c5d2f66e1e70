/**
 * All screens except the first view and the room. They are loaded after the first view was
 * shown, or on demand.
 */

export { AlreadyJoined } from './AlreadyJoined';
export { Left } from './Left';
export { NotALink } from './NotALink';
export { Refused } from './Refused';
export { Removed } from './Removed';
export { CalendarButton, Schedule } from './Schedule';
export { Unsupported } from './Unsupported';
export { WrongLink } from './WrongLink';

export type LazyScreens = typeof import('./lazyScreens');
