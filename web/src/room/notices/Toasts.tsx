import { ConnectionQuality, RoomEvent } from 'livekit-client';
import type { ReactElement } from 'react';
import { t } from '../../messages';
import { useStore } from '../../state/useStore';
import { useDelayedTrue } from '../../time/useDelayedTrue';
import { DeviceFault } from '../../ui/DeviceFault';
import { DeviceInterrupted } from '../../ui/DeviceInterrupted';
import type { Announcement, Connection } from '../../visit/state';
import { useConnectionQuality } from '../connection/useConnectionQuality';
import { useLiveKitEvents } from '../connection/useLiveKitEvents';
import { useMicSilence } from '../connection/useMicSilence';
import { backStopped } from '../leaveGuard';
import { useMeetingMedia, useMembership } from '../meeting';
import { HostToasts } from '../moderation/HostToasts';
import { HandToast } from '../reactions/HandToast';
import { WaitingNotice } from '../waitingRoom/WaitingNotice';
import { Toast } from './Toast';
import { WeakConnectionText } from './WeakConnectionText';

const playback = [RoomEvent.AudioPlaybackStatusChanged];

interface Props {
  /** Says that the room ends soon. */
  endNotice: string | null;
  onEndNoticeDismissed: () => void;
  /** A host's announcement to everybody. */
  announcement: Announcement | null;
  onAnnouncementDismissed: () => void;
  /** The visitor speaks while muted. */
  speakingWhileMuted: boolean;
}

/**
 * All notices, in one corner of the stage. One kind is shown once, and it disappears when
 * it is no longer true. What happened is shown for some seconds; what needs a decision, and
 * what keeps the visitor from being heard or seen, stays.
 */
export function Toasts({
  endNotice,
  onEndNoticeDismissed,
  announcement,
  onAnnouncementDismissed,
  speakingWhileMuted,
}: Props): ReactElement {
  const { room } = useMembership();
  const { connection } = useMeetingMedia();
  const connected = connection.is === 'connected';
  useLiveKitEvents(room, playback);
  const quality = useConnectionQuality(room.localParticipant);
  const isWeak = useDelayedTrue(quality === ConnectionQuality.Poor && connected, 4_000);
  return (
    <div className="toasts">
      {/* These two are read by PresenceLiveRegion. */}
      {endNotice && (
        <Toast key={endNotice} onEnd={onEndNoticeDismissed}>
          <p>{endNotice}</p>
        </Toast>
      )}
      {announcement && (
        <Toast key={announcement.text} length={announcement.text.length} onEnd={onAnnouncementDismissed}>
          <p className="small quiet">{t('broadcast.from', { name: announcement.from })}</p>
          <p className="broadcast" dir="auto">
            {announcement.text}
          </p>
        </Toast>
      )}
      <HandToast />
      <HostToasts />
      <div role="status" className="toast-slot">
        {useStore(backStopped) && <p className="toast">{t('leave.backAgain')}</p>}
        {speakingWhileMuted && <p className="toast">{t('muted.speaking')}</p>}
        {isWeak && (
          <Toast>
            <WeakConnectionText />
          </Toast>
        )}
        <DeviceToasts />
        <MovingToast />
        {!room.canPlaybackAudio && connected && (
          <div className="toast">
            <p>{t('room.soundOff')}</p>
            <button type="button" className="primary" onClick={() => void room.startAudio()}>
              {t('room.soundOn')}
            </button>
          </div>
        )}
      </div>
      <WaitingNotice />
    </div>
  );
}

/** Says what keeps a device from working. */
function DeviceToasts(): ReactElement {
  const { room } = useMembership();
  const { mediaState, localMedia } = useMeetingMedia();
  const { mic, camera, screen, micOn, cameraOn, video } = mediaState;
  const micSilent = useMicSilence(room, micOn && mic.is === 'live' && !mic.interrupted ? mic.track : null);
  // A phone returns the devices to a visible page after a moment.
  const micInterrupted = useDelayedTrue(micOn && mic.is === 'live' && mic.interrupted, 1_000);
  const cameraInterrupted = useDelayedTrue(camera.is === 'live' && camera.interrupted, 1_000);
  return (
    <>
      {micInterrupted && (
        <div className="toast">
          <DeviceInterrupted kind="mic" onRetry={() => void localMedia.retry('mic')} />
        </div>
      )}
      {cameraInterrupted && (
        <div className="toast">
          <DeviceInterrupted kind="camera" onRetry={() => void localMedia.retry('camera')} />
        </div>
      )}
      {micSilent && (
        <Toast stays>
          <p>{t('check.mic.silent')}</p>
        </Toast>
      )}
      {mic.is === 'requesting' && <p className="toast delayed">{t('mic.asking')}</p>}
      {camera.is === 'requesting' && <p className="toast delayed">{t('camera.asking')}</p>}
      {micOn && mic.is === 'failed' && (
        <div className="toast">
          <DeviceFault
            kind="mic"
            fault={mic.fault}
            onRetry={() => void localMedia.retry('mic')}
            onContinueWithout={() => void localMedia.setMicOn(false)}
          />
        </div>
      )}
      {video && cameraOn && camera.is === 'failed' && (
        <div className="toast">
          <DeviceFault
            kind="camera"
            fault={camera.fault}
            onRetry={() => void localMedia.retry('camera')}
            onContinueWithout={() => void localMedia.setCameraOn(false)}
          />
        </div>
      )}
      {screen.is === 'failed' && (
        <Toast>
          <p>{t('fault.screen')}</p>
        </Toast>
      )}
    </>
  );
}

/** Says that the page moves to another room. ConnectionLostBar says that it reconnects. */
function MovingToast(): ReactElement | null {
  const { connection } = useMeetingMedia();
  const isMoving = connection.is === 'rejoining' && connection.moving;
  return isMoving ? <p className="toast">{movingText(connection)}</p> : null;
}

/** The target is known once the server has responded. */
function movingText(connection: Connection): string {
  const seat = connection.is === 'rejoining' ? connection.joinAttempt.seat : null;
  return seat ? t('rooms.movingTo', { name: seat.breakout?.name ?? t('rooms.main') }) : t('rooms.moving');
}
