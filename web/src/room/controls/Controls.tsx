import type { ReactElement } from 'react';
import { isCameraActive, isMicActive } from '../../media/mediaState';
import { count, t } from '../../messages';
import { useMeeting } from '../meeting';
import { Control } from './Control';

// The type says that it always exists; pages without TLS have no devices, and phones
// cannot share a screen.
const devices: Partial<MediaDevices> | undefined = navigator.mediaDevices;
export const canShare = typeof devices?.getDisplayMedia === 'function';

/** Always the same controls in the same order. Controls that the visitor may not use are left out. */
export function Controls(): ReactElement {
  const { mediaState, localMedia, allowed, narrow, people, waitingRoom, unread, openSheet, toggleChat, leave } = useMeeting();
  const waiting = waitingRoom.waiting.length;
  const micActive = isMicActive(mediaState);
  const cameraActive = isCameraActive(mediaState);
  const sharing = mediaState.screen.is === 'live';
  const leaveControl = <Control icon="leave" label={t('control.leave')} variant="danger" onPress={leave} />;
  const unreadProps = unread ? { count: unread, countLabel: count('chat.unread', unread) } : {};
  const moreControl = (
    <Control
      icon="more"
      label={t('control.more')}
      shortcutKey="O"
      onPress={() => openSheet('more')}
      {...(narrow && { ...unreadProps, waiting })}
    />
  );
  return (
    <nav className="controls" aria-label={t('room.controls')}>
      {allowed.mic && (
        <Control
          icon={micActive ? 'mic' : 'micOff'}
          label={t(micActive ? 'control.mute' : 'control.unmute')}
          variant={micActive ? 'plain' : 'off'}
          shortcutKey="M"
          onPress={() => void localMedia.setMicOn(!micActive)}
        />
      )}
      {mediaState.video && allowed.camera && (
        <Control
          icon={cameraActive ? 'camera' : 'cameraOff'}
          label={t(cameraActive ? 'control.cameraOff' : 'control.cameraOn')}
          variant={cameraActive ? 'plain' : 'off'}
          shortcutKey="V"
          onPress={() => void localMedia.setCameraOn(!cameraActive)}
        />
      )}
      {narrow ? (
        <>
          {leaveControl}
          {moreControl}
        </>
      ) : (
        <>
          {mediaState.video && allowed.screen && canShare && (
            <Control
              icon={sharing ? 'screenOff' : 'screen'}
              label={t(sharing ? 'control.unshare' : 'control.share')}
              shortcutKey="S"
              onPress={() => (sharing ? localMedia.stopSharing() : void localMedia.shareScreen())}
            />
          )}
          {unread !== null && <Control icon="chat" label={t('chat.title')} shortcutKey="C" onPress={toggleChat} {...unreadProps} />}
          <Control
            icon="people"
            label={t('control.people')}
            shortcutKey="P"
            count={people.length}
            waiting={waiting}
            onPress={() => openSheet('people')}
          />
          <Control icon="hand" label={t('control.react')} onPress={() => openSheet('react')} />
          {moreControl}
          {leaveControl}
        </>
      )}
    </nav>
  );
}
