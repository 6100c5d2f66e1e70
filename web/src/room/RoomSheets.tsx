import type { ReactElement } from 'react';
import { BreakoutSheet } from './breakout/BreakoutSheet';
import { CheckSheet } from './check/CheckSheet';
import { mediaRouteOf } from './check/mediaRoute';
import { EndSheet } from './controls/EndSheet';
import { MoreSheet } from './controls/MoreSheet';
import { useMeetingMedia, useMeetingView, useMembership } from './meeting';
import { ShortcutsSheet } from './shortcuts/ShortcutsSheet';
import type { Shortcut } from './shortcuts/shortcuts';

/** The open dialog; at most one at a time. */
export function RoomSheets({ shortcuts }: { shortcuts: readonly Shortcut[] }): ReactElement | null {
  const { room } = useMembership();
  const { localMedia } = useMeetingMedia();
  const { open, openSheet } = useMeetingView();
  const close = (): void => openSheet(null);
  switch (open.dialog) {
    case null:
      return null;
    case 'more':
      return <MoreSheet onClose={close} />;
    case 'rooms':
      return <BreakoutSheet onClose={close} />;
    case 'keys':
      return <ShortcutsSheet shortcuts={shortcuts} onClose={close} />;
    case 'check':
      return <CheckSheet localMedia={localMedia} findRoute={() => mediaRouteOf(room)} connected onClose={close} />;
    case 'leave':
      return <EndSheet leaving onClose={close} />;
    case 'end':
      return <EndSheet onClose={close} />;
  }
}
