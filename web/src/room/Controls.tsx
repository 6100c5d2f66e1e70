import type { ReactElement } from 'react';
import { isHeard, isSeen, type Desk } from '../media/desk';
import type { Studio } from '../media/studio';
import { count, t } from '../messages';
import type { Allowed } from './allowed';
import { Control } from './Control';

interface Props {
  desk: Desk;
  studio: Studio;
  allowed: Allowed;
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
export function Controls({ desk, studio, allowed, narrow, people, waiting, unread, onChat, onReact, onPeople, onMore, onLeave }: Props): ReactElement {
  const speaking = isHeard(desk);
  const seen = isSeen(desk);
  const sharing = desk.screen.is === 'live';
  const leave = <Control icon="leave" label={t('control.leave')} look="danger" onPress={onLeave} />;
  const news = unread ? { count: unread, counted: count('chat.unread', unread) } : {};
  const more = <Control icon="more" label={t('control.more')} letter="O" onPress={onMore} {...(narrow && { ...news, waiting })} />;
  return (
    <nav className="controls" aria-label={t('room.controls')}>
      {allowed.mic && (
        <Control
          icon={speaking ? 'mic' : 'micOff'}
          label={t(speaking ? 'control.mute' : 'control.unmute')}
          look={speaking ? 'plain' : 'off'}
          letter="M"
          onPress={() => void studio.setMicOn(!speaking)}
        />
      )}
      {desk.video && allowed.camera && (
        <Control
          icon={seen ? 'camera' : 'cameraOff'}
          label={t(seen ? 'control.cameraOff' : 'control.cameraOn')}
          look={seen ? 'plain' : 'off'}
          letter="V"
          onPress={() => void studio.setCameraOn(!seen)}
        />
      )}
      {narrow ? (
        <>
          {leave}
          {more}
        </>
      ) : (
        <>
          {desk.video && allowed.screen && canShare && (
            <Control
              icon={sharing ? 'screenOff' : 'screen'}
              label={t(sharing ? 'control.unshare' : 'control.share')}
              letter="S"
              onPress={() => (sharing ? studio.stopSharing() : void studio.shareScreen())}
            />
          )}
          {unread !== null && <Control icon="chat" label={t('chat.title')} letter="C" onPress={onChat} {...news} />}
          <Control icon="people" label={t('control.people')} letter="P" count={people} waiting={waiting} onPress={onPeople} />
          <Control icon="hand" label={t('control.react')} onPress={onReact} />
          {more}
          {leave}
        </>
      )}
    </nav>
  );
}
