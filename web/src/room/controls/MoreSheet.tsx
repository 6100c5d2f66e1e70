import type { ReactElement, ReactNode } from 'react';
import type { MediaState } from '../../media/mediaState';
import type { LocalMedia } from '../../media/localMedia';
import { count, t } from '../../messages';
import { BlurSwitch } from '../../ui/BlurSwitch';
import { DeviceSelect } from '../../ui/DeviceSelect';
import { Icon, IconShape } from '../../ui/Icon';
import { LanguageSelect } from '../../ui/LanguageSelect';
import { NoiseSwitch } from '../../ui/NoiseSwitch';
import { Sheet } from '../../ui/Sheet';
import { canPip, openPip } from '../pip/pipWindow';
import { ViewSettings } from './ViewSettings';

interface Props {
  mediaState: MediaState;
  localMedia: LocalMedia;
  /** The invitation; null when the visitor may not invite. */
  invite: ReactNode;
  /** The raised hand and the reactions, on narrow screens. */
  handsAndReactions: ReactNode;
  /** The number of unread messages, on narrow screens with a chat; null otherwise. */
  unread: number | null;
  onChat: () => void;
  /** The number of people, on narrow screens; null otherwise. */
  people: number | null;
  onPeople: () => void;
  /** Opens the breakout rooms; null when there are none and the visitor cannot open any. */
  onRooms: (() => void) | null;
  onShortcuts: () => void;
  onCheck: () => void;
  /** Ends the room for everybody; null when the visitor may not. */
  onEnd: (() => void) | null;
  onClose: () => void;
}

// A phone has no keyboard.
const hasKeyboard = matchMedia('(any-pointer: fine)').matches;

/** A small window over a large one. */
const pipIcon = 'M21.5 11V6A1.5 1.5 0 0 0 20 4.5H4A1.5 1.5 0 0 0 2.5 6v11A1.5 1.5 0 0 0 4 18.5h5.5M13 13.5h8a.5.5 0 0 1 .5.5v5a.5.5 0 0 1-.5.5h-8a.5.5 0 0 1-.5-.5v-5a.5.5 0 0 1 .5-.5Z';

/** Settings and actions that are needed less often. */
export function MoreSheet({ mediaState, localMedia, invite, handsAndReactions, unread, onChat, people, onPeople, onRooms, onShortcuts, onCheck, onEnd, onClose }: Props): ReactElement {
  return (
    <Sheet title={t('more.title')} onClose={onClose}>
      {handsAndReactions}
      {unread !== null && (
        <button type="button" className="secondary wide" onClick={onChat}>
          <Icon name="chat" />
          {unread > 0 ? count('chat.openUnread', unread) : t('chat.title')}
        </button>
      )}
      {people !== null && (
        <button type="button" className="secondary wide" onClick={onPeople}>
          <Icon name="people" />
          {count('room.people', people)}
        </button>
      )}
      {onRooms && (
        <button type="button" className="secondary wide" onClick={onRooms}>
          <Icon name="rooms" />
          {t('rooms.title')}
        </button>
      )}
      {canPip() && (
        <button
          type="button"
          className="secondary wide"
          onClick={() => {
            void openPip();
            onClose();
          }}
        >
          <IconShape path={pipIcon} />
          {t('pip.open')}
        </button>
      )}
      {mediaState.video && <ViewSettings />}
      <section className="sheet-part">
        <h3>{t('more.devices')}</h3>
        <DeviceSelect of="mic" mediaState={mediaState} localMedia={localMedia} />
        <NoiseSwitch mediaState={mediaState} localMedia={localMedia} />
        <DeviceSelect of="speaker" mediaState={mediaState} localMedia={localMedia} />
        {mediaState.video && <DeviceSelect of="camera" mediaState={mediaState} localMedia={localMedia} />}
        <BlurSwitch mediaState={mediaState} localMedia={localMedia} />
      </section>
      {invite && (
        <section className="sheet-part">
          <h3>{t('more.invite')}</h3>
          {invite}
        </section>
      )}
      <section className="sheet-part">
        <LanguageSelect />
        <button type="button" className="secondary wide" onClick={onCheck}>
          {t('check.open')}
        </button>
        {hasKeyboard && (
          <button type="button" className="secondary wide" onClick={onShortcuts}>
            {t('keys.title')}
          </button>
        )}
      </section>
      {onEnd && (
        <button type="button" className="secondary wide wrong" onClick={onEnd}>
          {t('end.open')}
        </button>
      )}
    </Sheet>
  );
}
