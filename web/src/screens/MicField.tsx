import type { ReactElement } from 'react';
import type { LocalMedia } from '../media/localMedia';
import { canSelectDevice, type MediaState } from '../media/mediaState';
import { t } from '../messages';
import { DeviceFault } from '../ui/DeviceFault';
import { DeviceInterrupted } from '../ui/DeviceInterrupted';
import { DeviceSelect } from '../ui/DeviceSelect';
import { Meter } from './Meter';

/** The microphone before joining: explained, requested, then tested. It never blocks joining. */
export function MicField({
  mediaState,
  localMedia,
  paused,
}: {
  mediaState: MediaState;
  localMedia: LocalMedia;
  paused: boolean;
}): ReactElement {
  const { mic, camera } = mediaState;
  const askForBoth = mediaState.video && mediaState.allowed.camera && mediaState.cameraOn && camera.is === 'off';
  return (
    <div className="device">
      {/* Stays while another device is opened, so that keyboard users keep the focus. */}
      {canSelectDevice(mediaState, 'mic') && <DeviceSelect of="mic" mediaState={mediaState} localMedia={localMedia} />}
      {mic.is === 'off' && (
        <>
          <p>{t(askForBoth ? 'both.ask' : 'mic.ask')}</p>
          <button type="button" className="secondary" onClick={() => void localMedia.requestDevices()}>
            {t(askForBoth ? 'both.allow' : 'mic.allow')}
          </button>
        </>
      )}
      {mic.is === 'requesting' && (
        <p className="delayed" role="status">
          {t('mic.asking')}
        </p>
      )}
      {mic.is === 'live' && !mic.interrupted && <Meter track={mic.track} paused={paused} />}
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
