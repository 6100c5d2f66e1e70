import { type ReactElement, useEffect, useState } from 'react';
import { watchLevel } from '../../media/level';
import type { LocalMedia } from '../../media/localMedia';
import { canSelectDevice, deviceInUse, type MediaState } from '../../media/mediaState';
import { t } from '../../messages';
import { Meter } from '../../screens/Meter';
import { DeviceFault } from '../../ui/DeviceFault';
import { DeviceInterrupted } from '../../ui/DeviceInterrupted';
import { DeviceSelect } from '../../ui/DeviceSelect';
import { NoiseSwitch } from '../../ui/NoiseSwitch';
import { playTones, testTones } from '../alerts/tones';

/** The state of microphone, camera and speaker. */
export function DevicesPart({ mediaState, localMedia }: { mediaState: MediaState; localMedia: LocalMedia }): ReactElement {
  const [playCount, setPlayCount] = useState(0);
  return (
    <>
      {mediaState.allowed.mic && (
        <section className="sheet-part">
          <h3>{t('mic.label')}</h3>
          {canSelectDevice(mediaState, 'mic') && <DeviceSelect of="mic" mediaState={mediaState} localMedia={localMedia} labelHidden />}
          <MicStatus mediaState={mediaState} localMedia={localMedia} />
          <NoiseSwitch mediaState={mediaState} localMedia={localMedia} />
        </section>
      )}
      {mediaState.video && mediaState.allowed.camera && (
        <section className="sheet-part">
          <h3>{t('camera.label')}</h3>
          {canSelectDevice(mediaState, 'camera') && (
            <DeviceSelect of="camera" mediaState={mediaState} localMedia={localMedia} labelHidden />
          )}
          <CameraStatus mediaState={mediaState} localMedia={localMedia} />
        </section>
      )}
      <section className="sheet-part">
        <h3>{t('speaker.label')}</h3>
        <DeviceSelect of="speaker" mediaState={mediaState} localMedia={localMedia} labelHidden />
        <div>
          <button
            type="button"
            className="secondary"
            onClick={() => {
              setPlayCount(playCount + 1);
              void playTones(deviceInUse(mediaState, 'speaker'), testTones);
            }}
          >
            {t('check.speaker.play')}
          </button>
        </div>
        <p role="status">{playCount > 0 && t('check.speaker.heard')}</p>
      </section>
    </>
  );
}

function MicStatus({ mediaState: { mic }, localMedia }: { mediaState: MediaState; localMedia: LocalMedia }): ReactElement {
  const silent = useSilence(mic.is === 'live' ? mic.track : null);
  switch (mic.is) {
    case 'off':
      return (
        <>
          <p>{t('mic.ask')}</p>
          <div>
            <button type="button" className="secondary" onClick={() => void localMedia.retry('mic')}>
              {t('mic.allow')}
            </button>
          </div>
        </>
      );
    case 'requesting':
      return <p role="status">{t('mic.asking')}</p>;
    case 'live':
      return mic.interrupted ? (
        <div className="device-fault" role="status">
          <DeviceInterrupted kind="mic" onRetry={() => void localMedia.retry('mic')} />
        </div>
      ) : (
        <>
          <Meter track={mic.track} />
          <p role="status">{silent && t('check.mic.silent')}</p>
        </>
      );
    case 'failed':
      return <DeviceFault kind="mic" fault={mic.fault} onRetry={() => void localMedia.retry('mic')} />;
  }
}

function CameraStatus({ mediaState: { camera, cameraOn }, localMedia }: { mediaState: MediaState; localMedia: LocalMedia }): ReactElement {
  switch (camera.is) {
    case 'off':
      return <p>{t(cameraOn ? 'check.camera.asks' : 'lobby.camera.off')}</p>;
    case 'requesting':
      return <p role="status">{t('camera.asking')}</p>;
    case 'live':
      return camera.interrupted ? (
        <div className="device-fault" role="status">
          <DeviceInterrupted kind="camera" onRetry={() => void localMedia.retry('camera')} />
        </div>
      ) : (
        <p>{t('check.camera.works')}</p>
      );
    case 'failed':
      return <DeviceFault kind="camera" fault={camera.fault} onRetry={() => void localMedia.retry('camera')} />;
  }
}

/** A microphone in a quiet room still delivers noise; one that is switched off delivers silence. */
const minLevel = 0.02;
const silenceMs = 6_000;

/** Returns whether the track has been completely silent for some seconds. */
function useSilence(track: MediaStreamTrack | null): boolean {
  const [silent, setSilent] = useState(false);
  useEffect(() => {
    setSilent(false);
    if (!track) return;
    let lastSoundAt = performance.now();
    return watchLevel(
      track,
      (level) => {
        if (level > minLevel) lastSoundAt = performance.now();
        setSilent(performance.now() - lastSoundAt > silenceMs);
      },
      200,
    );
  }, [track]);
  return silent;
}
