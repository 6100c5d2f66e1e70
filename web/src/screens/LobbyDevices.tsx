import type { ReactElement } from 'react';
import type { LocalMedia } from '../media/localMedia';
import { canSelectDevice, isMicActive, type MediaState } from '../media/mediaState';
import { t } from '../messages';
import { DeviceFault, type FaultOfBoth, isFaultOfBoth } from '../ui/DeviceFault';
import { DeviceInterrupted } from '../ui/DeviceInterrupted';
import { DeviceSelect } from '../ui/DeviceSelect';
import { Meter } from './Meter';

interface Props {
  mediaState: MediaState;
  localMedia: LocalMedia;
  showCamera: boolean;
  showMic: boolean;
  later: boolean;
  paused: boolean;
}

/** The choice of devices below the preview, a test of the microphone, and what is wrong with them. It never blocks joining. */
export function LobbyDevices(props: Props): ReactElement {
  const { showCamera, showMic, later, mediaState } = props;
  if (later && mediaState.mic.is === 'off' && mediaState.camera.is === 'off') {
    return <p className="small quiet">{t(showCamera ? 'lobby.devicesLater' : 'lobby.micLater')}</p>;
  }
  const fault = showMic && showCamera ? faultOfBoth(mediaState) : null;
  if (fault) {
    return (
      <div className="device-fault" role="status">
        <DeviceFault kind="both" fault={fault} onRetry={() => void props.localMedia.requestDevices()} />
        <p className="small quiet">{t('mic.without')}</p>
      </div>
    );
  }
  return (
    <>
      {showMic && <MicDevice {...props} />}
      {showCamera && <CameraDevice {...props} />}
    </>
  );
}

/** Returns the fault that both devices have, if one text explains it. */
function faultOfBoth({ mic, camera, cameraOn }: MediaState): FaultOfBoth | null {
  if (mic.is !== 'failed' || camera.is !== 'failed' || !cameraOn || mic.fault !== camera.fault) return null;
  return isFaultOfBoth(mic.fault) ? mic.fault : null;
}

function MicDevice({ mediaState, localMedia, later, paused }: Props): ReactElement {
  const { mic, camera } = mediaState;
  const askForBoth = mediaState.video && mediaState.allowed.camera && mediaState.cameraOn && camera.is === 'off';
  return (
    <div className="device">
      {/* Stays while another device is opened, so that keyboard users keep the focus. */}
      {canSelectDevice(mediaState, 'mic') && <DeviceSelect of="mic" mediaState={mediaState} localMedia={localMedia} labelHidden />}
      {mic.is === 'off' && !later && <p className="small quiet">{t(askForBoth ? 'both.ask' : 'mic.ask')}</p>}
      {mic.is === 'requesting' && (
        <p className="small quiet delayed" role="status">
          {t('mic.asking')}
        </p>
      )}
      {mic.is === 'live' && !mic.interrupted && isMicActive(mediaState) && <Meter track={mic.track} paused={paused} />}
      {mic.is === 'live' && !mic.interrupted && !isMicActive(mediaState) && <p className="small quiet">{t('lobby.muted')}</p>}
      {mic.is === 'live' && mic.interrupted && (
        <div className="device-fault" role="status">
          <DeviceInterrupted kind="mic" onRetry={() => void localMedia.retry('mic')} />
        </div>
      )}
      {mic.is === 'failed' && (
        <div className="device-fault" role="status">
          <DeviceFault kind="mic" fault={mic.fault} onRetry={() => void localMedia.retry('mic')} />
          <p className="small quiet">{t('mic.without')}</p>
        </div>
      )}
    </div>
  );
}

function CameraDevice({ mediaState, localMedia }: Props): ReactElement {
  const { camera, cameraOn } = mediaState;
  const failed = cameraOn && camera.is === 'failed';
  return (
    <div className="device">
      {/* Also before the camera runs, so that the layout does not move when it starts. */}
      {(!failed || canSelectDevice(mediaState, 'camera')) && (
        <DeviceSelect of="camera" mediaState={mediaState} localMedia={localMedia} labelHidden />
      )}
      {failed && (
        <div className="device-fault" role="status">
          <DeviceFault kind="camera" fault={camera.fault} onRetry={() => void localMedia.retry('camera')} />
          <p className="small quiet">{t('camera.without')}</p>
        </div>
      )}
    </div>
  );
}
