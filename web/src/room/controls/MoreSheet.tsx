import type { ReactElement } from 'react';
import { count, formatNumber, t } from '../../messages';
import { BlurSwitch } from '../../ui/BlurSwitch';
import { DeviceSelect } from '../../ui/DeviceSelect';
import { Icon, IconShape } from '../../ui/Icon';
import { LanguageSelect } from '../../ui/LanguageSelect';
import { NoiseSwitch } from '../../ui/NoiseSwitch';
import { Sheet } from '../../ui/Sheet';
import { useMeetingMedia, useMeetingPeople, useMeetingView } from '../meeting';
import { canPip, openPip } from '../pip/pipWindow';
import { ReactionPicker } from '../reactions/ReactionPicker';
import { canShare } from './Controls';
import { FlipButton } from './DeviceMenus';
import { ViewSettings } from './ViewSettings';

// A phone has no keyboard.
const hasKeyboard = matchMedia('(any-pointer: fine)').matches;

/** A small window over a large one. */
const pipIcon =
  'M21.5 11V6A1.5 1.5 0 0 0 20 4.5H4A1.5 1.5 0 0 0 2.5 6v11A1.5 1.5 0 0 0 4 18.5h5.5M13 13.5h8a.5.5 0 0 1 .5.5v5a.5.5 0 0 1-.5.5h-8a.5.5 0 0 1-.5-.5v-5a.5.5 0 0 1 .5-.5Z';

/** The menu of less frequent actions. On small screens it also has the actions that do not fit in the control bar. */
export function MoreSheet({ onClose }: { onClose: () => void }): ReactElement {
  const { mediaState, localMedia, allowed } = useMeetingMedia();
  const { narrow, openSheet } = useMeetingView();
  return (
    <Sheet title={t('more.title')} onClose={onClose}>
      {narrow && <ReactionPicker />}
      {narrow && <SmallScreenButtons onClose={onClose} />}
      <button type="button" className="secondary wide" onClick={() => openSheet('room')}>
        <Icon name="info" />
        {t('more.room')}
      </button>
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
      {/* Elsewhere the menus of the microphone and the camera have them. */}
      {(narrow || !allowed.mic) && (
        <section className="sheet-part">
          <h3>{t('more.devices')}</h3>
          {allowed.mic && (
            <>
              <DeviceSelect of="mic" mediaState={mediaState} localMedia={localMedia} />
              <NoiseSwitch mediaState={mediaState} localMedia={localMedia} />
            </>
          )}
          <DeviceSelect of="speaker" mediaState={mediaState} localMedia={localMedia} />
          {narrow && mediaState.video && allowed.camera && (
            <>
              <DeviceSelect of="camera" mediaState={mediaState} localMedia={localMedia} />
              <BlurSwitch mediaState={mediaState} localMedia={localMedia} />
            </>
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
    </Sheet>
  );
}

function SmallScreenButtons({ onClose }: { onClose: () => void }): ReactElement {
  const { mediaState, localMedia, allowed } = useMeetingMedia();
  const { people, waitingRoom } = useMeetingPeople();
  const { openSheet } = useMeetingView();
  const sharing = mediaState.screen.is === 'live';
  const waiting = waitingRoom.waiting.length;
  return (
    <>
      <button type="button" className="secondary wide" onClick={() => openSheet('people')}>
        <Icon name="people" />
        {t('control.people')} ({formatNumber(people.length)})
        {waiting > 0 && <span className="badge">{count('waitingRoom.people', waiting)}</span>}
      </button>
      {mediaState.video && allowed.screen && canShare && (
        <button
          type="button"
          className="secondary wide"
          onClick={() => {
            if (sharing) localMedia.stopSharing();
            else void localMedia.shareScreen();
            onClose();
          }}
        >
          <Icon name={sharing ? 'screenOff' : 'screen'} />
          {t(sharing ? 'control.unshare' : 'control.share')}
        </button>
      )}
      <FlipButton />
    </>
  );
}
