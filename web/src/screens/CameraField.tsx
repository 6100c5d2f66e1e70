import type { ReactElement } from 'react';
import { initials } from '../lib/initials';
import { canChoose, type Desk } from '../media/desk';
import type { Studio } from '../media/studio';
import { t } from '../messages';
import { BlurSwitch } from '../ui/BlurSwitch';
import { DeviceFault } from '../ui/DeviceFault';
import { DeviceSelect } from '../ui/DeviceSelect';
import { Icon } from '../ui/Icon';
import { Picture } from '../ui/Picture';
import { Switch } from '../ui/Switch';

/** The visitor as the others will see them, and the camera to choose. */
export function CameraField({ desk, studio, name, still }: { desk: Desk; studio: Studio; name: string; still: boolean }): ReactElement {
  const { camera, cameraOn } = desk;
  return (
    <section className="camera" aria-label={t('camera.label')}>
      <div className="tile preview">
        {camera.is === 'live' ? (
          <>
            <Picture track={camera.track} still={still} />
            {/* Over the picture: which camera offers it is known late, and nothing below may move then. */}
            <BlurSwitch desk={desk} studio={studio} />
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
            {cameraOn && camera.is === 'asking' && <p className="small quiet patient">{t('camera.asking')}</p>}
            {cameraOn && camera.is === 'off' && (desk.mic.is !== 'off' || !desk.may.mic) && (
              <button type="button" className="secondary" onClick={() => void studio.again('camera')}>
                {t('camera.allow')}
              </button>
            )}
          </div>
        )}
      </div>
      {cameraOn && camera.is === 'failed' && (
        <div className="device" role="status">
          <DeviceFault kind="camera" fault={camera.fault} onAgain={() => void studio.again('camera')} />
          <p className="small quiet">{t('camera.without')}</p>
        </div>
      )}
      {/* Also before the camera runs: nothing below may move when it does. */}
      {(camera.is !== 'failed' || canChoose(desk, 'camera')) && <DeviceSelect of="camera" desk={desk} studio={studio} />}
      <Switch label={t('lobby.camera')} on={cameraOn} onChange={(on) => void studio.wishCameraOn(on)} />
    </section>
  );
}
