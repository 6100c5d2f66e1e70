import { type ReactElement, useState } from 'react';
import type { LocalMedia } from '../media/localMedia';
import { isCameraActive, isMicActive, type MediaState } from '../media/mediaState';
import { type PlainKey, t } from '../messages';
import { BlurredCopy } from '../ui/BlurredCopy';
import { BlurSwitch } from '../ui/BlurSwitch';
import { Icon, type IconName } from '../ui/Icon';
import { initials } from '../ui/initials';
import { LocalVideo } from '../ui/LocalVideo';
import type { PictureSize } from '../ui/usePictureSize';

interface Props {
  mediaState: MediaState;
  localMedia: LocalMedia;
  name: string;
  showCamera: boolean;
  showMic: boolean;
  /** The devices stay off for now, and nobody is asked for permission. */
  later: boolean;
  paused: boolean;
}

/** How the others will see the visitor, with the buttons for microphone and camera. */
export function DevicePreview({ mediaState, localMedia, name, showCamera, showMic, later, paused }: Props): ReactElement {
  const { camera, mic } = mediaState;
  const micActive = showMic && isMicActive(mediaState);
  const cameraActive = showCamera && isCameraActive(mediaState);
  return (
    <section className={showCamera ? 'tile preview' : 'tile preview audio'} aria-label={t(showCamera ? 'lobby.preview' : 'mic.label')}>
      {showCamera && camera.is === 'live' ? (
        <>
          <PreviewVideo track={camera.track} paused={paused} />
          {/* On top of the video, because the support for blur is known late and the layout must not move then. */}
          <BlurSwitch mediaState={mediaState} localMedia={localMedia} />
        </>
      ) : (
        <PreviewText {...{ mediaState, localMedia, name, showCamera, showMic, later }} />
      )}
      <div className="preview-controls">
        {showMic && (
          <Toggle
            icon={micActive ? 'mic' : 'micOff'}
            label="mic.label"
            on={micActive}
            onPress={() => mic.is !== 'requesting' && void localMedia.setMicOn(!micActive)}
          />
        )}
        {showCamera && (
          <Toggle
            icon={cameraActive ? 'camera' : 'cameraOff'}
            label="camera.label"
            on={cameraActive}
            onPress={() => camera.is !== 'requesting' && void localMedia.setCameraOn(!cameraActive)}
          />
        )}
      </div>
    </section>
  );
}

/** The camera. That of a phone held upright is shown as a whole, because the preview would cut off the face. */
function PreviewVideo({ track, paused }: { track: MediaStreamTrack; paused: boolean }): ReactElement {
  const [size, setSize] = useState<PictureSize | null>(null);
  const isUpright = size !== null && size.height > size.width;
  return (
    <>
      {isUpright && <BlurredCopy track={track} paused={paused} />}
      <LocalVideo track={track} paused={paused} className={isUpright ? 'picture uncropped' : 'picture'} onSize={setSize} />
    </>
  );
}

/** The text or the initials that replace the picture. */
function PreviewText({ mediaState, localMedia, name, showCamera, showMic, later }: Omit<Props, 'paused'>): ReactElement {
  const { mic, camera, cameraOn } = mediaState;
  const askForMic = showMic && !later && mic.is === 'off';
  const askForCamera = showCamera && !later && cameraOn && camera.is === 'off';
  if (askForMic || askForCamera) {
    return (
      <button
        type="button"
        className="secondary"
        onClick={() => void (askForMic ? localMedia.requestDevices() : localMedia.retry('camera'))}
      >
        {t(askForMic && askForCamera ? 'both.allow' : askForMic ? 'mic.allow' : 'camera.allow')}
      </button>
    );
  }
  const requesting = showCamera && cameraOn && camera.is === 'requesting';
  return (
    <div className="preview-text">
      {name.trim() ? (
        <span className="initials" aria-hidden="true">
          {initials(name)}
        </span>
      ) : (
        <Icon name={showCamera ? 'cameraOff' : 'micOff'} />
      )}
      {requesting && <p className="small delayed">{t('camera.asking')}</p>}
      {showCamera && !requesting && <p className="small">{t('lobby.camera.off')}</p>}
    </div>
  );
}

/** Its shape says whether the device is on; screen readers hear it as pressed. */
function Toggle({ icon, label, on, onPress }: { icon: IconName; label: PlainKey; on: boolean; onPress: () => void }): ReactElement {
  return (
    <button type="button" className="preview-control" aria-label={t(label as 'mic.label')} aria-pressed={on} onClick={onPress}>
      <Icon name={icon} />
    </button>
  );
}
