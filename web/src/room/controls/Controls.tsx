import type { ReactElement } from 'react';
import { isCameraActive, isMicActive } from '../../media/mediaState';
import { count, t } from '../../messages';
import { useAction } from '../actions/useAction';
import { useMeetingMedia, useMeetingPeople, useMeetingView, useMembership } from '../meeting';
import type { PanelTab } from '../openSheet';
import { panelId } from '../panel/panelId';
import { ReactionPicker } from '../reactions/ReactionPicker';
import { Control } from './Control';
import { AudioMenu, VideoMenu } from './DeviceMenus';
import { PopoverControl } from './PopoverControl';

// The type says that it always exists; pages without TLS have no devices, and phones
// cannot share a screen.
const devices: Partial<MediaDevices> | undefined = navigator.mediaDevices;
export const canShare = typeof devices?.getDisplayMedia === 'function';

/** Always the same controls in the same order. Controls that the visitor may not use are left out. */
export function Controls(): ReactElement {
  const { mediaState, allowed } = useMeetingMedia();
  const { people, waitingRoom } = useMeetingPeople();
  const { narrow, unread, open, panelCovers, openSheet, toggleTab, leave } = useMeetingView();
  const waiting = waitingRoom.waiting.length;
  const tab = (opens: PanelTab) => ({
    opens,
    expanded: open.panel === opens,
    controls: panelCovers ? undefined : panelId,
    dialog: panelCovers,
    onPress: () => toggleTab(opens),
  });
  const chat = unread !== null && (
    <Control
      icon="chat"
      label={t('chat.title')}
      shortcutKey="C"
      badge={unread > 0 ? { count: unread, label: count('chat.unread', unread) } : undefined}
      {...tab('chat')}
    />
  );
  const peopleControl = (
    <Control icon="people" label={t('control.people')} shortcutKey="P" count={people.length} waiting={waiting} {...tab('people')} />
  );
  return (
    <nav className="controls" aria-label={t('room.controls')}>
      {allowed.mic && (narrow ? <MicControl /> : <MicWithMenu />)}
      {mediaState.video && allowed.camera && (narrow ? <CameraControl /> : <CameraWithMenu />)}
      {narrow ? (
        <>
          {chat || peopleControl}
          <HandControl />
        </>
      ) : (
        <>
          {mediaState.video && allowed.screen && canShare && <ShareControl />}
          <PopoverControl icon="smiley" label={t('react.title')}>
            <ReactionPicker />
          </PopoverControl>
          <HandControl />
          {chat}
          {peopleControl}
        </>
      )}
      <Control
        icon="more"
        label={t('control.more')}
        shortcutKey="O"
        opens="more"
        expanded={open.dialog === 'more'}
        dialog
        onPress={() => openSheet('more')}
        waiting={narrow && chat ? waiting : 0}
      />
      <Control icon="leave" label={t('control.leave')} variant="danger" named={!narrow} onPress={leave} />
    </nav>
  );
}

function MicControl(): ReactElement {
  const { mediaState, localMedia } = useMeetingMedia();
  const active = isMicActive(mediaState);
  return (
    <Control
      icon={active ? 'mic' : 'micOff'}
      label={t(active ? 'control.mute' : 'control.unmute')}
      variant={active ? 'plain' : 'off'}
      shortcutKey="M"
      onPress={() => void localMedia.setMicOn(!active)}
    />
  );
}

function MicWithMenu(): ReactElement {
  return (
    <PopoverControl icon="chevron" chevron label={t('control.audio')} before={<MicControl />}>
      <AudioMenu />
    </PopoverControl>
  );
}

function CameraControl(): ReactElement {
  const { mediaState, localMedia } = useMeetingMedia();
  const active = isCameraActive(mediaState);
  return (
    <Control
      icon={active ? 'camera' : 'cameraOff'}
      label={t(active ? 'control.cameraOff' : 'control.cameraOn')}
      variant={active ? 'plain' : 'off'}
      shortcutKey="V"
      onPress={() => void localMedia.setCameraOn(!active)}
    />
  );
}

function CameraWithMenu(): ReactElement {
  return (
    <PopoverControl icon="chevron" chevron label={t('control.video')} before={<CameraControl />}>
      <VideoMenu />
    </PopoverControl>
  );
}

function ShareControl(): ReactElement {
  const { mediaState, localMedia } = useMeetingMedia();
  const sharing = mediaState.screen.is === 'live';
  return (
    <Control
      icon={sharing ? 'screenOff' : 'screen'}
      label={t(sharing ? 'control.unshare' : 'control.share')}
      variant={sharing ? 'on' : 'plain'}
      shortcutKey="S"
      onPress={() => (sharing ? localMedia.stopSharing() : void localMedia.shareScreen())}
    />
  );
}

function HandControl(): ReactElement {
  const { actions } = useMembership();
  const { hands } = useMeetingPeople();
  const { run } = useAction();
  const raised = hands.some(({ you }) => you);
  return (
    <Control
      icon="hand"
      label={t(raised ? 'hand.lower' : 'hand.raise')}
      variant={raised ? 'on' : 'plain'}
      shortcutKey="H"
      onPress={() => void run(() => (raised ? actions.lowerHand() : actions.raiseHand()))}
    />
  );
}
