import type { LocalMedia } from '../../media/localMedia';
import type { MediaState } from '../../media/mediaState';
import { isCameraActive, isMicActive } from '../../media/mediaState';
import type { SimpleKey } from '../../messages';
import type { PublishPermissions } from '../connection/publishPermissions';
import { canShare } from '../controls/Controls';
import type { OpenSheet, PanelTab } from '../openSheet';
import { reactionKeys } from '../reactions/reactionName';
import { type Reaction, reactionKinds } from '../reactions/reactions';
import { speakerView } from '../stage/viewPreferences';

export interface Shortcut {
  /** The key, in lower case. */
  key: string;
  /** The message key of its description. */
  labelKey: SimpleKey;
  run: () => void;
}

interface ShortcutContext {
  mediaState: MediaState;
  localMedia: LocalMedia;
  allowed: PublishPermissions;
  hasChat: boolean;
  onOpen: (sheet: OpenSheet) => void;
  /** Opens a tab of the side panel, or closes the panel when that tab is open. */
  onToggle: (tab: PanelTab) => void;
  /** Whether the visitor's hand is raised. */
  handRaised: boolean;
  onHand: () => void;
  onReact: (reaction: Reaction) => void;
}

/**
 * Returns the keyboard shortcuts of the room. Actions that are not allowed have none, and
 * no shortcut leaves or ends the room, because a key is easily pressed by accident.
 */
export function shortcutsFor({
  mediaState,
  localMedia,
  allowed,
  hasChat,
  onOpen,
  onToggle,
  handRaised,
  onHand,
  onReact,
}: ShortcutContext): Shortcut[] {
  const sharing = mediaState.screen.is === 'live';
  return [
    ...(allowed.mic
      ? [{ key: 'm', labelKey: 'keys.mic', run: () => void localMedia.setMicOn(!isMicActive(localMedia.state.get())) } as const]
      : []),
    ...(mediaState.video && allowed.camera
      ? [{ key: 'v', labelKey: 'keys.camera', run: () => void localMedia.setCameraOn(!isCameraActive(localMedia.state.get())) } as const]
      : []),
    ...(mediaState.video && allowed.screen && canShare
      ? [{ key: 's', labelKey: 'keys.share', run: () => (sharing ? localMedia.stopSharing() : void localMedia.shareScreen()) } as const]
      : []),
    ...(mediaState.video ? [{ key: 'g', labelKey: 'keys.view', run: () => speakerView.save(!speakerView.get()) } as const] : []),
    { key: 'h', labelKey: handRaised ? 'hand.lower' : 'hand.raise', run: onHand },
    ...reactionKinds.map((kind, i) => ({ key: String(i + 1), labelKey: reactionKeys[kind], run: () => onReact(kind) })),
    ...(hasChat ? [{ key: 'c', labelKey: 'chat.title', run: () => onToggle('chat') } as const] : []),
    { key: 'p', labelKey: 'control.people', run: () => onToggle('people') },
    { key: 'o', labelKey: 'control.more', run: () => onOpen('more') },
    { key: '?', labelKey: 'keys.help', run: () => onOpen('keys') },
  ];
}
