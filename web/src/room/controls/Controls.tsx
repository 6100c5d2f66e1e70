import type { ReactElement } from 'react';
import { isMicActive, isCameraActive, type MediaState } from '../../media/mediaState';
import type { LocalMedia } from '../../media/localMedia';
import { count, t } from '../../messages';
import type { PublishPermissions } from '../connection/publishPermissions';
import { Control } from './Control';

interface Props {
  mediaState: MediaState;
  localMedia: LocalMedia;
  allowed: PublishPermissions;
  /** Only microphone, camera, leave and more fit. */
  narrow: boolean;
  people: number;
  /** How many people wait to be admitted, for hosts. */
  waiting: number;
  /** The number of unread messages; null in a room without chat. */
  unread: number | null;
  onChat: () => void;
  onReact: () => void;
  onPeople: () => void;
  onMore: () => void;
  onLeave: () => void;
}

// The type says that it always exists; pages without TLS have no devices, and phones
// cannot share a screen.
const devices: Partial<MediaDevices> | undefined = navigator.mediaDevices;
export const canShare = typeof devices?.getDisplayMedia === 'function';

/** Always the same controls in the same order. Controls that the visitor may not use are left out. */
export function Controls({ mediaState, localMedia, allowed, narrow, people, waiting, unread, onChat, onReact, onPeople, onMore, onLeave }: Props): ReactElement {
  const micActive = isMicActive(mediaState);
  const cameraActive = isCameraActive(mediaState);
  const sharing = mediaState.screen.is === 'live';
  const leave = <Control icon="leave" label={t('control.leave')} variant="danger" onPress={onLeave} />;
  const unreadProps = unread ? { count: unread, countLabel: count('chat.unread', unread) } : {};
  const more = <Control icon="more" label={t('control.more')} shortcutKey="O" onPress={onMore} {...(narrow && { ...unreadProps, waiting })} />;
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
          {leave}
          {more}
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
          {unread !== null && <Control icon="chat" label={t('chat.title')} shortcutKey="C" onPress={onChat} {...unreadProps} />}
          <Control icon="people" label={t('control.people')} shortcutKey="P" count={people} waiting={waiting} onPress={onPeople} />
          <Control icon="hand" label={t('control.react')} onPress={onReact} />
          {more}
          {leave}
        </>
      )}
    </nav>
  );
}
