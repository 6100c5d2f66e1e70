import type { Role } from '../../api/client';
import type { Acts } from '../../visit/acts';

/** What somebody who runs the room has at hand. */
export interface Tools {
  acts: Acts;
  role: Role;
  /** To what guests may do. */
  onLocks: () => void;
}

/** Where the focus goes when the button that had it is about to go: to the first one of its sheet. */
export function keepFocus(button: Element): void {
  button.closest('dialog')?.querySelector('button')?.focus();
}
