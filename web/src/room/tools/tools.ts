import type { Role } from '../../api/client';
import type { Acts } from '../../visit/acts';

/** What somebody who runs the room has at hand. */
export interface Tools {
  acts: Acts;
  role: Role;
  /** To what guests may do. */
  onLocks: () => void;
}
