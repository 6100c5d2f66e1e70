/** The page of a connection check, which is not part of the visit of a room. */
export { ServerCheckPage } from './ServerCheckPage';

export type CheckModule = typeof import('./index');
