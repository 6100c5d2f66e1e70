import { ConnectionQuality, RoomEvent, type Room } from 'livekit-client';
import type { ReactElement, ReactNode } from 'react';
import { useLasting } from '../lib/useLasting';
import type { Desk } from '../media/desk';
import type { Studio } from '../media/studio';
import { t } from '../messages';
import { DeviceFault } from '../ui/DeviceFault';
import { Withheld } from '../ui/Withheld';
import type { Link, Word } from '../visit/state';
import { Dismissible } from './Dismissible';
import { WeakBanner } from './stage/WeakBanner';
import { useEvents } from './useEvents';
import { useQuality } from './useQuality';

const playback = [RoomEvent.AudioPlaybackStatusChanged];

interface Props {
  room: Room;
  link: Link;
  desk: Desk;
  studio: Studio;
  /** That the room ends soon. */
  notice: string | null;
  onNoticed: () => void;
  /** What a host says to everybody. */
  word: Word | null;
  /** The visitor speaks although muted. */
  unheard: boolean;
  onHeard: () => void;
  /** What else there is to say, first. */
  children?: ReactNode;
}

/** What the page has to say while people talk: calm, above the stage, moving nothing. */
export function Banners({ room, link, desk, studio, notice, onNoticed, word, unheard, onHeard, children }: Props): ReactElement {
  const moving = link.is === 'returning' && link.moving;
  const gone = link.is === 'asking' || (link.is === 'returning' && !moving);
  // LiveKit mends most things before anybody hears a gap.
  const away = useLasting(link.is === 'shaky', 1_000) || gone;
  const long = useLasting(gone, 15_000);
  useEvents(room, playback);
  const quality = useQuality(room.localParticipant);
  // A phone that comes back to the page has its devices again at once.
  const micWithheld = useLasting(desk.micOn && desk.mic.is === 'live' && desk.mic.withheld, 1_000);
  const cameraWithheld = useLasting(desk.camera.is === 'live' && desk.camera.withheld, 1_000);
  const weak = useLasting(quality === ConnectionQuality.Poor && link.is === 'up', 4_000);
  return (
    <div className="banners">
      {children}
      {!room.canPlaybackAudio && link.is === 'up' && (
        <div className="banner strong">
          <p>{t('room.soundOff')}</p>
          <button type="button" className="primary" onClick={() => void room.startAudio()}>
            {t('room.soundOn')}
          </button>
        </div>
      )}
      {/* These two are read out by the announcer. */}
      {notice && (
        <Dismissible onDismiss={onNoticed}>
          <p>{notice}</p>
        </Dismissible>
      )}
      {word && (
        <Dismissible onDismiss={onHeard}>
          <p className="small quiet">{t('word.from', { name: word.from })}</p>
          <p className="word" dir="auto">
            {word.text}
          </p>
        </Dismissible>
      )}
      <div role="status" className="banner-slot">
        {unheard && <p className="banner">{t('muted.speaking')}</p>}
        {moving && <p className="banner">{movingWords(link)}</p>}
        {away && <p className="banner">{t(long ? 'room.stillTrying' : 'room.reconnecting')}</p>}
        {!away && weak && <WeakBanner desk={desk} />}
        {micWithheld && (
          <div className="banner">
            <Withheld kind="mic" onAgain={() => void studio.again('mic')} />
          </div>
        )}
        {cameraWithheld && (
          <div className="banner">
            <Withheld kind="camera" onAgain={() => void studio.again('camera')} />
          </div>
        )}
        {desk.mic.is === 'asking' && <p className="banner patient">{t('mic.asking')}</p>}
        {desk.camera.is === 'asking' && <p className="banner patient">{t('camera.asking')}</p>}
        {desk.micOn && desk.mic.is === 'failed' && (
          <div className="banner">
            <DeviceFault kind="mic" fault={desk.mic.fault} onAgain={() => void studio.again('mic')} onWithout={() => void studio.setMicOn(false)} />
          </div>
        )}
        {desk.video && desk.cameraOn && desk.camera.is === 'failed' && (
          <div className="banner">
            <DeviceFault kind="camera" fault={desk.camera.fault} onAgain={() => void studio.again('camera')} onWithout={() => void studio.setCameraOn(false)} />
          </div>
        )}
        {desk.screen.is === 'failed' && <p className="banner">{t('fault.screen')}</p>}
      </div>
    </div>
  );
}

/** Where to is known once the server has answered. */
function movingWords(link: Link): string {
  const seat = link.is === 'returning' ? link.arrival.seat : null;
  return seat ? t('rooms.movingTo', { name: seat.breakout?.name ?? t('rooms.main') }) : t('rooms.moving');
}
