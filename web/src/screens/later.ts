/** The screens beside the first view and the room; loaded after the first view was shown, or when one is needed. */
export { Away } from './Away';
export { NotALink } from './NotALink';
export { Refused } from './Refused';
export { Removed } from './Removed';
export { Schedule } from './Schedule';
export { Twice } from './Twice';
export { WrongLink } from './WrongLink';

export type LaterScreens = typeof import('./later');
