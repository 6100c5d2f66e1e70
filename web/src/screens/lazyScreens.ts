/** The screens beside the first view and the room; loaded after the first view was shown, or when one is needed. */
export { Left as Away } from './Left';
export { NotALink } from './NotALink';
export { Refused } from './Refused';
export { Removed } from './Removed';
export { Schedule } from './Schedule';
export { AlreadyJoined as Twice } from './AlreadyJoined';
export { WrongLink } from './WrongLink';

export type LazyScreens = typeof import('./lazyScreens');
