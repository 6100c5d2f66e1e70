import type { Role } from '../../api/client';
import type { Acts } from '../../visit/acts';
import type { Door } from '../door/useDoor';

/** What somebody who runs the room has at hand. */
export interface Tools {
  acts: Acts;
  role: Role;
  door: Door;
  /** To what guests may do. */
  onLocks: () => void;
}

/** Where the focus goes when the button that has it goes: to the first one of its sheet. */
export function firstBeside(button: Element): HTMLElement | null {
  return button.closest('dialog')?.querySelector('button') ?? null;
}
