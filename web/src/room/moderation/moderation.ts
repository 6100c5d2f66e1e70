import type { Role } from '../../api/client';
import type { RoomActions } from '../../visit/roomActions';
import type { WaitingRoom } from '../waitingRoom/useWaitingRoom';

/** What somebody who runs the room has at hand. */
export interface ModerationTools {
  actions: RoomActions;
  role: Role;
  waitingRoom: WaitingRoom;
  /** To what guests may do. */
  onOpenLocks: () => void;
}

/** Where the focus goes when the button that has it goes: to the first one of its sheet. */
export function firstButtonInDialog(button: Element): HTMLElement | null {
  return button.closest('dialog')?.querySelector('button') ?? null;
}
