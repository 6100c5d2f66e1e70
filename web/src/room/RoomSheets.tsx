import type { ReactElement } from 'react';
import { t } from '../messages';
import { Sheet } from '../ui/Sheet';
import { BreakoutSheet } from './breakout/BreakoutSheet';
import { CheckSheet } from './check/CheckSheet';
import { mediaRouteOf } from './check/mediaRoute';
import { EndSheet } from './controls/EndSheet';
import { MoreSheet } from './controls/MoreSheet';
import { InviteSheet } from './invite/InviteSheet';
import { useMeeting } from './meeting';
import { LocksSheet } from './moderation/LocksSheet';
import type { OpenSheet } from './openSheet';
import { PeopleSheet } from './people/PeopleSheet';
import { HandsAndReactionsPart } from './reactions/HandsAndReactionsPart';
import { ShortcutsSheet } from './shortcuts/ShortcutsSheet';
import type { Shortcut } from './shortcuts/shortcuts';

interface Props {
  open: OpenSheet;
  shortcuts: readonly Shortcut[];
}

/** The open sheet; at most one at a time. */
export function RoomSheets({ open, shortcuts }: Props): ReactElement | null {
  const { room, localMedia, openSheet } = useMeeting();
  const close = (): void => openSheet(null);
  switch (open) {
    case null:
      return null;
    case 'people':
      return <PeopleSheet onClose={close} />;
    case 'locks':
      return <LocksSheet onClose={close} />;
    case 'react':
      return (
        <Sheet title={t('react.title')} onClose={close}>
          <HandsAndReactionsPart onDone={close} />
        </Sheet>
      );
    case 'more':
      return <MoreSheet onClose={close} />;
    case 'rooms':
      return <BreakoutSheet onClose={close} />;
    case 'invite':
      return <InviteSheet onClose={close} />;
    case 'keys':
      return <ShortcutsSheet shortcuts={shortcuts} onClose={close} />;
    case 'check':
      return <CheckSheet localMedia={localMedia} findRoute={() => mediaRouteOf(room)} connected onClose={close} />;
    case 'end':
      return <EndSheet onClose={close} />;
  }
}
