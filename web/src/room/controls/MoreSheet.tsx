import type { ReactElement } from 'react';
import { count, t } from '../../messages';
import { BlurSwitch } from '../../ui/BlurSwitch';
import { DeviceSelect } from '../../ui/DeviceSelect';
import { Icon, IconShape } from '../../ui/Icon';
import { LanguageSelect } from '../../ui/LanguageSelect';
import { NoiseSwitch } from '../../ui/NoiseSwitch';
import { Sheet } from '../../ui/Sheet';
import { GuestInvite } from '../invite/GuestInvite';
import { useMeeting } from '../meeting';
import { canPip, openPip } from '../pip/pipWindow';
import { HandsAndReactionsPart } from '../reactions/HandsAndReactionsPart';
import { ViewSettings } from './ViewSettings';

// A phone has no keyboard.
const hasKeyboard = matchMedia('(any-pointer: fine)').matches;

/** A small window over a large one. */
const pipIcon =
  'M21.5 11V6A1.5 1.5 0 0 0 20 4.5H4A1.5 1.5 0 0 0 2.5 6v11A1.5 1.5 0 0 0 4 18.5h5.5M13 13.5h8a.5.5 0 0 1 .5.5v5a.5.5 0 0 1-.5.5h-8a.5.5 0 0 1-.5-.5v-5a.5.5 0 0 1 .5-.5Z';

/** Settings and actions that are needed less often. */
export function MoreSheet({ onClose }: { onClose: () => void }): ReactElement {
  const { mediaState, localMedia, seat, role, isModerator, metadata, people, guestLink, unread, narrow, openSheet, openChat } =
    useMeeting();
  const hasBreakouts = (isModerator && seat.max_breakouts > 0) || metadata.breakouts.length > 0;
  return (
    <Sheet title={t('more.title')} onClose={onClose}>
      {narrow && <HandsAndReactionsPart onDone={onClose} />}
      {narrow && unread !== null && (
        <button type="button" className="secondary wide" onClick={openChat}>
          <Icon name="chat" />
          {unread > 0 ? count('chat.openUnread', unread) : t('chat.title')}
        </button>
      )}
      {narrow && (
        <button type="button" className="secondary wide" onClick={() => openSheet('people')}>
          <Icon name="people" />
          {count('room.people', people.length)}
        </button>
      )}
      {hasBreakouts && (
        <button type="button" className="secondary wide" onClick={() => openSheet('rooms')}>
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
      {(isModerator || guestLink.link) && (
        <section className="sheet-part">
          <h3>{t('more.invite')}</h3>
          {isModerator ? (
            <button type="button" className="secondary wide" onClick={() => openSheet('invite')}>
              {t('invite.open')}
            </button>
          ) : (
            <GuestInvite />
          )}
        </section>
      )}
      <section className="sheet-part">
        <LanguageSelect />
        <button type="button" className="secondary wide" onClick={() => openSheet('check')}>
          {t('check.open')}
        </button>
        {hasKeyboard && (
          <button type="button" className="secondary wide" onClick={() => openSheet('keys')}>
            {t('keys.title')}
          </button>
        )}
      </section>
      {role === 'host' && (
        <button type="button" className="secondary wide wrong" onClick={() => openSheet('end')}>
          {t('end.open')}
        </button>
      )}
    </Sheet>
  );
}
