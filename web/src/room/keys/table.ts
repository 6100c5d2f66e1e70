import type { Desk } from '../../media/desk';
import { isHeard, isSeen } from '../../media/desk';
import type { Studio } from '../../media/studio';
import type { SimpleKey } from '../../messages';
import type { Allowed } from '../allowed';
import { canShare } from '../Controls';
import type { OpenSheet } from '../RoomSheets';
import { speakerView } from '../stage/choices';

export interface Shortcut {
  /** The letter on the key. */
  key: string;
  /** What it does, as the list says it. */
  does: SimpleKey;
  run: () => void;
}

interface Room {
  desk: Desk;
  studio: Studio;
  allowed: Allowed;
  onOpen: (sheet: OpenSheet) => void;
  /** Whether the visitor's hand is up. */
  handUp: boolean;
  onHand: () => void;
  /** Null in a room without chat. */
  onChat: (() => void) | null;
}

/**
 * Everything one key does in the room; what may not be done has no key.
 * Nothing here ends anything: a slip of the hand must not throw anybody out.
 */
export function shortcutsFor({ desk, studio, allowed, onOpen, handUp, onHand, onChat }: Room): Shortcut[] {
  const sharing = desk.screen.is === 'live';
  return [
    ...(allowed.mic
      ? [{ key: 'm', does: 'keys.mic', run: () => void studio.setMicOn(!isHeard(studio.desk.get())) } as const]
      : []),
    ...(desk.video && allowed.camera
      ? [{ key: 'v', does: 'keys.camera', run: () => void studio.setCameraOn(!isSeen(studio.desk.get())) } as const]
      : []),
    ...(desk.video && allowed.screen && canShare
      ? [{ key: 's', does: 'keys.share', run: () => (sharing ? studio.stopSharing() : void studio.shareScreen()) } as const]
      : []),
    ...(desk.video ? [{ key: 'g', does: 'keys.view', run: () => speakerView.choose(!speakerView.get()) } as const] : []),
    { key: 'h', does: handUp ? 'hand.lower' : 'hand.raise', run: onHand },
    ...(onChat ? [{ key: 'c', does: 'chat.title', run: onChat } as const] : []),
    { key: 'p', does: 'control.people', run: () => onOpen('people') },
    { key: 'o', does: 'control.more', run: () => onOpen('more') },
    { key: '?', does: 'keys.help', run: () => onOpen('keys') },
  ];
}
