import type { ReactElement } from 'react';
import { isMicActive, isCameraActive, type MediaState } from '../media/mediaState';
import type { LocalMedia } from '../media/localMedia';
import { count, t } from '../messages';
import type { PublishPermissions } from './publishPermissions';
import { Control } from './Control';

interface Props {
  mediaState: MediaState;
  localMedia: LocalMedia;
  allowed: PublishPermissions;
  /** Room for the first two, leave and more only. */
  narrow: boolean;
  people: number;
  /** How many wait to be let in, for those who let them in. */
  waiting: number;
  /** How many messages are unread; null where there is no chat. */
  unread: number | null;
  onChat: () => void;
  onReact: () => void;
  onPeople: () => void;
  onMore: () => void;
  onLeave: () => void;
}

// Typed as always there; pages without TLS have no devices at all, and phones no screens to share.
const devices: Partial<MediaDevices> | undefined = navigator.mediaDevices;
export const canShare = typeof devices?.getDisplayMedia === 'function';

/** Always the same controls in the same order; what may not be used here is not offered. */
export function Controls({ mediaState, localMedia, allowed, narrow, people, waiting, unread, onChat, onReact, onPeople, onMore, onLeave }: Props): ReactElement {
  const micActive = isMicActive(mediaState);
  const cameraActive = isCameraActive(mediaState);
  const sharing = mediaState.screen.is === 'live';
  const leave = <Control icon="leave" label={t('control.leave')} variant="danger" onPress={onLeave} />;
  const unreadProps = unread ? { count: unread, counted: count('chat.unread', unread) } : {};
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
