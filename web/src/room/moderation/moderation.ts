import type { Role } from '../../api/client';
import type { RoomActions } from '../../visit/roomActions';
import type { WaitingRoom } from '../waitingRoom/useWaitingRoom';

/** The props that the moderation components share. */
export interface ModerationTools {
  actions: RoomActions;
  role: Role;
  waitingRoom: WaitingRoom;
  /** Opens the sheet with the locks. */
  onOpenLocks: () => void;
}

/** Returns the first button of the dialog, which gets the focus when the focused button is removed. */
export function firstButtonInDialog(button: Element): HTMLElement | null {
  return button.closest('dialog')?.querySelector('button') ?? null;
}
