import { ConnectionQuality, RoomEvent } from 'livekit-client';
import type { ReactElement, ReactNode } from 'react';
import { t } from '../../messages';
import { useDelayedTrue } from '../../time/useDelayedTrue';
import { DeviceFault } from '../../ui/DeviceFault';
import { DeviceInterrupted } from '../../ui/DeviceInterrupted';
import type { Announcement, Connection } from '../../visit/state';
import { useConnectionQuality } from '../connection/useConnectionQuality';
import { useLiveKitEvents } from '../connection/useLiveKitEvents';
import { useMeeting } from '../meeting';
import { DismissibleBanner } from './DismissibleBanner';
import { WeakConnectionBanner } from './WeakConnectionBanner';

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
  /** Other banners, shown first. */
  children?: ReactNode;
}

/** Notices above the stage. They do not move the layout. */
export function Banners({
  endNotice,
  onEndNoticeDismissed,
  announcement,
  onAnnouncementDismissed,
  speakingWhileMuted,
  children,
}: Props): ReactElement {
  const { room, connection, mediaState, localMedia } = useMeeting();
  const isMoving = connection.is === 'rejoining' && connection.moving;
  useLiveKitEvents(room, playback);
  const quality = useConnectionQuality(room.localParticipant);
  // A phone returns the devices to a visible page after a moment.
  const micInterrupted = useDelayedTrue(mediaState.micOn && mediaState.mic.is === 'live' && mediaState.mic.interrupted, 1_000);
  const cameraInterrupted = useDelayedTrue(mediaState.camera.is === 'live' && mediaState.camera.interrupted, 1_000);
  const isWeak = useDelayedTrue(quality === ConnectionQuality.Poor && connection.is === 'connected', 4_000);
  return (
    <div className="banners">
      {children}
      {!room.canPlaybackAudio && connection.is === 'connected' && (
        <div className="banner strong">
          <p>{t('room.soundOff')}</p>
          <button type="button" className="primary" onClick={() => void room.startAudio()}>
            {t('room.soundOn')}
          </button>
        </div>
      )}
      {/* These two are read by PresenceLiveRegion. */}
      {endNotice && (
        <DismissibleBanner onDismiss={onEndNoticeDismissed}>
          <p>{endNotice}</p>
        </DismissibleBanner>
      )}
      {announcement && (
        <DismissibleBanner onDismiss={onAnnouncementDismissed}>
          <p className="small quiet">{t('broadcast.from', { name: announcement.from })}</p>
          <p className="broadcast" dir="auto">
            {announcement.text}
          </p>
        </DismissibleBanner>
      )}
      <div role="status" className="banner-slot">
        {speakingWhileMuted && <p className="banner">{t('muted.speaking')}</p>}
        {isMoving && <p className="banner">{movingText(connection)}</p>}
        {isWeak && <WeakConnectionBanner />}
        {micInterrupted && (
          <div className="banner">
            <DeviceInterrupted kind="mic" onRetry={() => void localMedia.retry('mic')} />
          </div>
        )}
        {cameraInterrupted && (
          <div className="banner">
            <DeviceInterrupted kind="camera" onRetry={() => void localMedia.retry('camera')} />
          </div>
        )}
        {mediaState.mic.is === 'requesting' && <p className="banner delayed">{t('mic.asking')}</p>}
        {mediaState.camera.is === 'requesting' && <p className="banner delayed">{t('camera.asking')}</p>}
        {mediaState.micOn && mediaState.mic.is === 'failed' && (
          <div className="banner">
            <DeviceFault
              kind="mic"
              fault={mediaState.mic.fault}
              onRetry={() => void localMedia.retry('mic')}
              onContinueWithout={() => void localMedia.setMicOn(false)}
            />
          </div>
        )}
        {mediaState.video && mediaState.cameraOn && mediaState.camera.is === 'failed' && (
          <div className="banner">
            <DeviceFault
              kind="camera"
              fault={mediaState.camera.fault}
              onRetry={() => void localMedia.retry('camera')}
              onContinueWithout={() => void localMedia.setCameraOn(false)}
            />
          </div>
        )}
        {mediaState.screen.is === 'failed' && <p className="banner">{t('fault.screen')}</p>}
      </div>
    </div>
  );
}

/** The target is known once the server has answered. */
function movingText(connection: Connection): string {
  const seat = connection.is === 'rejoining' ? connection.joinAttempt.seat : null;
  return seat ? t('rooms.movingTo', { name: seat.breakout?.name ?? t('rooms.main') }) : t('rooms.moving');
}
