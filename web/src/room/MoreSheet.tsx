import type { ReactElement, ReactNode } from 'react';
import type { Desk } from '../media/desk';
import type { Studio } from '../media/studio';
import { count, t } from '../messages';
import { BlurSwitch } from '../ui/BlurSwitch';
import { DeviceSelect } from '../ui/DeviceSelect';
import { Icon, Shape } from '../ui/Icon';
import { LanguageSelect } from '../ui/LanguageSelect';
import { NoiseSwitch } from '../ui/NoiseSwitch';
import { Sheet } from '../ui/Sheet';
import { canPip, openPip } from './stage/pip';
import { ViewPart } from './stage/ViewPart';

interface Props {
  desk: Desk;
  studio: Studio;
  /** How to invite others; null for who cannot. */
  invite: ReactNode;
  /** The hand and the reactions, when this sheet is the way to them. */
  together: ReactNode;
  /** How many messages are unread, when this sheet is the way to the chat. */
  unread: number | null;
  onChat: () => void;
  /** How many there are, when this sheet is the way to their list. */
  people: number | null;
  onPeople: () => void;
  /** To the breakout rooms, where there are or can be any. */
  onRooms: (() => void) | null;
  onKeys: () => void;
  onCheck: () => void;
  /** To the end for all, for those who may. */
  onEnd: (() => void) | null;
  onClose: () => void;
}

// A phone has no keys to press one of.
const hasKeys = matchMedia('(any-pointer: fine)').matches;

/** A small window over a large one. */
const windows = 'M21.5 11V6A1.5 1.5 0 0 0 20 4.5H4A1.5 1.5 0 0 0 2.5 6v11A1.5 1.5 0 0 0 4 18.5h5.5M13 13.5h8a.5.5 0 0 1 .5.5v5a.5.5 0 0 1-.5.5h-8a.5.5 0 0 1-.5-.5v-5a.5.5 0 0 1 .5-.5Z';

/** What is needed now and then. */
export function MoreSheet({ desk, studio, invite, together, unread, onChat, people, onPeople, onRooms, onKeys, onCheck, onEnd, onClose }: Props): ReactElement {
  return (
    <Sheet title={t('more.title')} onClose={onClose}>
      {together}
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
          <Shape lines={windows} />
          {t('pip.open')}
        </button>
      )}
      {desk.video && <ViewPart />}
      <section className="sheet-part">
        <h3>{t('more.devices')}</h3>
        <DeviceSelect of="mic" desk={desk} studio={studio} />
        <NoiseSwitch desk={desk} studio={studio} />
        <DeviceSelect of="speaker" desk={desk} studio={studio} />
        {desk.video && <DeviceSelect of="camera" desk={desk} studio={studio} />}
        <BlurSwitch desk={desk} studio={studio} />
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
        {hasKeys && (
          <button type="button" className="secondary wide" onClick={onKeys}>
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
