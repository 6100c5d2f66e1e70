import type { ReactElement } from 'react';
import type { LocalMedia } from '../media/localMedia';
import { canSelectDevice, type MediaState } from '../media/mediaState';
import { t } from '../messages';
import { BlurSwitch } from '../ui/BlurSwitch';
import { DeviceFault } from '../ui/DeviceFault';
import { DeviceSelect } from '../ui/DeviceSelect';
import { Icon } from '../ui/Icon';
import { initials } from '../ui/initials';
import { LocalVideo } from '../ui/LocalVideo';
import { Switch } from '../ui/Switch';

/** The preview of the visitor's camera, and the choice of a camera. */
export function CameraField({
  mediaState,
  localMedia,
  name,
  paused,
}: {
  mediaState: MediaState;
  localMedia: LocalMedia;
  name: string;
  paused: boolean;
}): ReactElement {
  const { camera, cameraOn } = mediaState;
  return (
    <section className="camera" aria-label={t('camera.label')}>
      <div className="tile preview">
        {camera.is === 'live' ? (
          <>
            <LocalVideo track={camera.track} paused={paused} />
            {/* On top of the video, because the support for blur is known late and the layout must not move then. */}
            <BlurSwitch mediaState={mediaState} localMedia={localMedia} />
          </>
        ) : (
          <div className="preview-text">
            {name.trim() ? (
              <span className="initials" aria-hidden="true">
                {initials(name)}
              </span>
            ) : (
              <Icon name="cameraOff" />
            )}
            {!cameraOn && <p className="small quiet">{t('lobby.camera.off')}</p>}
            {cameraOn && camera.is === 'requesting' && <p className="small quiet delayed">{t('camera.asking')}</p>}
            {cameraOn && camera.is === 'off' && (mediaState.mic.is !== 'off' || !mediaState.allowed.mic) && (
              <button type="button" className="secondary" onClick={() => void localMedia.retry('camera')}>
                {t('camera.allow')}
              </button>
            )}
          </div>
        )}
      </div>
      {cameraOn && camera.is === 'failed' && (
        <div className="device" role="status">
          <DeviceFault kind="camera" fault={camera.fault} onRetry={() => void localMedia.retry('camera')} />
          <p className="small quiet">{t('camera.without')}</p>
        </div>
      )}
      {/* Also before the camera runs, so that the layout does not move when it starts. */}
      {(camera.is !== 'failed' || canSelectDevice(mediaState, 'camera')) && (
        <DeviceSelect of="camera" mediaState={mediaState} localMedia={localMedia} />
      )}
      <Switch label={t('lobby.camera')} on={cameraOn} onChange={(on) => void localMedia.setCameraOnInLobby(on)} />
    </section>
  );
}
